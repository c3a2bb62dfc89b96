import SignetCrypto

/// The parts of a compact serialization, between its dots.
struct CompactSegments {
  /// The whole text in ASCII.
  let bytes: [UInt8]
  /// Where each part ends: at a dot, or at the end of the text.
  private let ends: [Int]

  init(_ text: String, count: Int, limit: Int) throws(JOSEFailure) {
    let byteCount = text.utf8.count
    guard byteCount <= limit else { throw .tooLarge(byteCount: byteCount, limit: limit) }
    let bytes = Array(text.utf8)
    ends = try Self.ends(bytes.span, count)
    self.bytes = bytes
  }

  private static func ends(_ bytes: Span<UInt8>, _ count: Int) throws(JOSEFailure) -> [Int] {
    var ends: [Int] = []
    ends.reserveCapacity(count)
    let dot = UInt8(ascii: ".")
    var start = 0
    while start < bytes.count {
      // Dots are few: a stretch of 32 characters is first asked as a whole, which takes one instruction or two.
      let end = min(start &+ 32, bytes.count)
      if end &- start == 32, !Self.hasDot(bytes.extracting(start..<end)) {
        start = end
        continue
      }
      for index in start..<end where bytes[index] == dot {
        guard ends.count < count - 1 else { throw .wrongSegmentCount(expected: count) }
        ends.append(index)
      }
      start = end
    }
    guard ends.count == count - 1 else { throw .wrongSegmentCount(expected: count) }
    ends.append(bytes.count)
    return ends
  }

  private static func hasDot(_ bytes: Span<UInt8>) -> Bool {
    var found: UInt8 = 0
    for index in bytes.indices { found |= bytes[index] == UInt8(ascii: ".") ? 1 : 0 }
    return found != 0
  }

  /// The bytes of a part as they stand in the text.
  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1] + 1)..<ends[index] }

  /// Everything before the dot that ends the part.
  func through(_ index: Int) -> [UInt8] { Array(bytes[..<ends[index]]) }

  /// The decoded bytes of a part.
  func decoded(_ index: Int, _ part: JOSEFailure.Part) throws(JOSEFailure) -> [UInt8] {
    do {
      return try Base64URL.decode(bytes.span.extracting(range(index)))
    } catch {
      throw .notBase64URL(part)
    }
  }
}
