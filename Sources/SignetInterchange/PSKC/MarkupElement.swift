/// An XML element with its content.
struct MarkupElement {
  let namespace: String
  /// The name without prefix.
  let name: String
  /// The attributes by name, with prefixes.
  let attributes: [String: String]
  var children: [MarkupElement] = []
  /// The text of the element without that of its children, trimmed.
  var text = ""

  /// Returns the first child with this name, in any namespace.
  subscript(name: String) -> MarkupElement? { children.first { $0.name == name } }

  /// Returns the descendant at a path of names.
  func element(_ names: String...) -> MarkupElement? {
    var current: MarkupElement? = self
    for name in names { current = current?[name] }
    return current
  }

  /// Returns the text of the descendant at a path of names; `nil` if it is missing or empty.
  func text(_ names: String...) -> String? {
    var current: MarkupElement? = self
    for name in names { current = current?[name] }
    guard let text = current?.text, !text.isEmpty else { return nil }
    return text
  }
}
