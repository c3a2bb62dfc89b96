import SignetCrypto

/// The parts of a compact serialization between its dots.
struct CompactSegments {
  /// The whole text in ASCII.
  let bytes: [UInt8]
  /// The end of each part: the index of a dot, or of the end of the text.
  ///
  /// Three parts are a JWS, five a JWE.
  private let ends: InlineArray<5, Int>

  init(_ text: String, count: Int, limit: Int) throws(JOSEFailure) {
    let byteCount = text.utf8.count
    guard byteCount <= limit else { throw .tooLarge(byteCount: byteCount, limit: limit) }
    let bytes = Array(text.utf8)
    ends = try Self.ends(bytes.span, count)
    self.bytes = bytes
  }

  private static func ends(_ bytes: Span<UInt8>, _ count: Int) throws(JOSEFailure) -> InlineArray<5, Int> {
    var ends = InlineArray<5, Int>(repeating: 0)
    var dotCount = 0
    var start = 0
    while let dot = bytes.firstIndex(of: UInt8(ascii: "."), from: start) {
      guard dotCount < count - 1 else { throw .wrongSegmentCount(expected: count) }
      ends[dotCount] = dot
      dotCount += 1
      start = dot + 1
    }
    guard dotCount == count - 1 else { throw .wrongSegmentCount(expected: count) }
    ends[dotCount] = bytes.count
    return ends
  }

  /// Returns the range of a part's characters in the text.
  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1] + 1)..<ends[index] }

  /// Returns the text up to the end of a part, without the dot that follows.
  func through(_ index: Int) -> [UInt8] { Array(bytes[..<ends[index]]) }

  func decoded(_ index: Int, _ part: JOSEFailure.Part) throws(JOSEFailure) -> [UInt8] {
    do {
      return try Base64URL.decode(bytes.span.extracting(range(index)))
    } catch {
      throw .notBase64URL(part)
    }
  }
}
