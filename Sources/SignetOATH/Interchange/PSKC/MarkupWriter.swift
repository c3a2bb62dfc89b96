import SignetText

/// Writes XML, an element a line.
struct MarkupWriter {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  private var depth = 0

  /// An element with what `body` writes in it.
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

  /// An element with text; none where there is none.
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
