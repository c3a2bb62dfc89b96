import SignetSystem

/// An XML writer that puts each element on its own line.
struct MarkupWriter {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  private var depth = 0

  /// Writes an element with the content that `body` writes.
  mutating func element<E: Error>(
    _ name: String, _ attributes: [(String, String)] = [], _ body: (inout MarkupWriter) throws(E) -> Void
  ) throws(E) {
    let start = open(name, attributes)
    text += ">\n"
    let before = text.utf8.count
    depth += 1
    try body(&self)
    depth -= 1
    if text.utf8.count == before {
      text.removeLast(2)
      text += "/>\n"
    } else {
      text += "\(start)</\(name)>\n"
    }
  }

  /// Writes an element with text; nothing if the text is `nil`.
  mutating func text(_ name: String, _ content: String?, _ attributes: [(String, String)] = []) {
    guard let content else { return }
    _ = open(name, attributes)
    text += ">\(MarkupText.escaped(content))</\(name)>\n"
  }

  private mutating func open(_ name: String, _ attributes: [(String, String)]) -> String {
    let start = String(repeating: "  ", count: depth)
    text += "\(start)<\(name)"
    for (name, value) in attributes { text += " \(name)=\"\(MarkupText.escaped(value))\"" }
    return start
  }
}
