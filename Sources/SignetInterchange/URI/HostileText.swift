import SignetSystem

/// Checks for text of a URI that is displayed, stored and passed on to less strict apps.
enum HostileText {
  /// The number of percent-encoding layers that are examined.
  private static let depth = 3

  /// Rejects text that is too long or could be active content: control characters, scripts, markup and path traversal.
  ///
  /// The checks are repeated below further layers of percent-encoding.
  ///
  /// - Parameters:
  ///   - text: The text, with the escapes of the URI decoded.
  ///   - member: The name of the text in the error.
  ///   - limit: The greatest length, in bytes.
  /// - Throws: ``InterchangeFailure`` with the rule that the text breaks.
  static func check(_ text: String, _ member: String, limit: Int) throws(InterchangeFailure) {
    var text = text
    for layer in 0..<depth {
      try InterchangeText.check(text, member, limit: limit)
      let bytes = InterchangeText.lowercased(text.trimmed).utf8
      guard !bytes.starts(with: "javascript:".utf8) else {
        throw .invalid(member, reason: "is a script; remove it")
      }
      guard !hasMarkup(Array(bytes)) else { throw .invalid(member, reason: "has markup; remove it") }
      guard !leavesFolder(text) else {
        throw .invalid(member, reason: "leads out of a folder; remove the ..")
      }
      guard layer + 1 < depth, text.utf8.contains(UInt8(ascii: "%")) else { return }
      // If the layer below is not UTF-8, no app would display it.
      let inner: String
      do throws(InterchangeFailure) { inner = try PercentEncoding.decode(text[...]) } catch { return }
      guard !inner.hasSameBytes(as: text) else { return }
      text = inner
    }
  }

  /// Indicates whether there is a tag: `<b>`, `</b>`, `<img src=x>`, but not `<alice@example.com>` and `a < b > c`.
  private static func hasMarkup(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while let open = bytes[start...].firstIndex(of: UInt8(ascii: "<")) {
      var index = open + 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "/") || bytes[index] == UInt8(ascii: "!") {
        index += 1
      }
      let name = index
      while index < bytes.count, 0x61...0x7A ~= bytes[index] || 0x30...0x39 ~= bytes[index] { index += 1 }
      let ends: [UInt8] = [UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: " ")]
      if index > name, index < bytes.count, ends.contains(bytes[index]),
        bytes[index...].contains(UInt8(ascii: ">"))
      {
        return true
      }
      start = open + 1
    }
    return false
  }

  /// Indicates whether `..` is a segment of a path.
  private static func leavesFolder(_ text: String) -> Bool {
    guard text.utf8.contains(UInt8(ascii: "/")) || text.utf8.contains(UInt8(ascii: "\\")) else {
      return false
    }
    return text.utf8.split(omittingEmptySubsequences: false) {
      [UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
    }.contains { $0.elementsEqual("..".utf8) }
  }
}
