/// Text for XML, HTML and similar formats.
package enum MarkupText {
  /// Escapes text for use between tags and in an attribute.
  ///
  /// - Parameter text: Characters that markup may contain.
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
