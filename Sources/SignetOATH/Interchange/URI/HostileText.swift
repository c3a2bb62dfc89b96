import SignetText

/// Text of a URI that is shown, kept and handed on, by apps that may not look at it as closely as we do.
enum HostileText {
  /// How many layers of percent-encoding are looked through.
  private static let depth = 3

  /// Refuses text that is too long, or that could act where it is shown or used: control characters, scripts, markup, ways
  /// out of a folder; also below further layers of percent-encoding.
  ///
  /// - Parameters:
  ///   - text: The text, with the escapes of the URI resolved.
  ///   - member: What it is called.
  ///   - limit: The longest, in bytes.
  /// - Throws: ``InterchangeFailure``.
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
      // What is no text below is no text that anybody would show.
      let inner: String
      do throws(InterchangeFailure) { inner = try PercentEncoding.decode(text[...]) } catch { return }
      guard !inner.utf8.elementsEqual(text.utf8) else { return }
      text = inner
    }
  }

  /// Whether there is a tag: `<b>`, `</b>`, `<img src=x>`, but not `<alice@example.com>` and `a < b > c`.
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

  /// Whether `..` is a step of a path.
  private static func leavesFolder(_ text: String) -> Bool {
    guard text.utf8.contains(UInt8(ascii: "/")) || text.utf8.contains(UInt8(ascii: "\\")) else {
      return false
    }
    return text.utf8.split(omittingEmptySubsequences: false) {
      [UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
    }.contains { $0.elementsEqual("..".utf8) }
  }
}
