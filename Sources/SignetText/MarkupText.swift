/// Text for XML, HTML and what is like them.
package enum MarkupText {
  /// Text that is read back as it was, between tags and in an attribute.
  ///
  /// - Parameter text: Characters that markup may have.
  /// - Returns: The text with references for `&`, `<`, `>` and both quotes.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
