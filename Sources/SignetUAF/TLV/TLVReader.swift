/// The position of a TLV element.
package struct TLVElement: Hashable, Sendable {
  package let tag: TLVTag
  /// The range of the element with its tag and length.
  package let whole: Range<Int>
  /// The range of the content.
  package let content: Range<Int>
}

/// The reasons why bytes are malformed TLV; offsets count from the start of the outermost bytes.
package enum TLVFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Fewer than the four bytes of a tag and a length are left.
  case truncatedHeader(offset: Int)
  /// The length exceeds the remaining bytes.
  case lengthBeyondEnd(offset: Int)
  /// Composites are nested deeper than in any message of the protocol.
  case tooDeep(offset: Int)

  package var description: String {
    switch self {
    case .truncatedHeader(let offset): "the TLV text ends in a tag or length at byte \(offset)"
    case .lengthBeyondEnd(let offset): "the length at byte \(offset) leads beyond the end"
    case .tooDeep(let offset): "elements are nested too deep at byte \(offset)"
    }
  }
}

/// An iterator over elements: a tag and a length of 16 bits each, little-endian, and the content.
///
/// Nothing is copied: elements are ranges of one array.
package struct TLVReader: Sendable {
  /// The deepest nesting; the protocol needs 3: an extension in signed data in an assertion.
  package static let maximumDepth = 8

  private let bytes: [UInt8]
  private var position: Int
  private let end: Int
  private let depth: Int

  /// Creates a reader at the start of `bytes`.
  package init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count, depth: 1) }

  private init(_ bytes: [UInt8], _ range: Range<Int>, depth: Int) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
    self.depth = depth
  }

  /// The number of bytes after the last element that was read.
  package var rest: Int { end - position }

  /// Reads the next element; `nil` at the end.
  package mutating func next() throws(TLVFailure) -> TLVElement? {
    guard position < end else { return nil }
    guard end - position >= 4 else { throw .truncatedHeader(offset: position) }
    let start = position
    let tag = UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8
    let count = Int(bytes[start + 2]) | Int(bytes[start + 3]) << 8
    guard count <= end - start - 4 else { throw .lengthBeyondEnd(offset: start + 2) }
    position = start + 4 + count
    return TLVElement(
      tag: TLVTag(rawValue: tag), whole: start..<position, content: (start + 4)..<position)
  }

  /// Returns a reader of the elements in a composite.
  package func elements(of composite: TLVElement) throws(TLVFailure) -> TLVReader {
    guard depth < Self.maximumDepth else { throw .tooDeep(offset: composite.whole.lowerBound) }
    return TLVReader(bytes, composite.content, depth: depth + 1)
  }
}
