/// An element of an XML document, with everything in it.
struct MarkupElement {
  let namespace: String
  /// Without prefix.
  let name: String
  /// By their names, with prefixes.
  let attributes: [String: String]
  var children: [MarkupElement] = []
  /// The text in it, that of its children apart, without white space around it.
  var text = ""

  /// The first child of this name, in whatever namespace.
  subscript(name: String) -> MarkupElement? { children.first { $0.name == name } }

  /// The descendant on a way of names.
  func element(_ names: String...) -> MarkupElement? {
    var found: MarkupElement? = self
    for name in names { found = found?[name] }
    return found
  }

  /// The text of a child; `nil` where it is missing or empty.
  func text(_ names: String...) -> String? {
    var found: MarkupElement? = self
    for name in names { found = found?[name] }
    guard let text = found?.text, !text.isEmpty else { return nil }
    return text
  }
}
