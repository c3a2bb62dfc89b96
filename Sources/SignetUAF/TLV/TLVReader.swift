/// One element of a TLV text: where it lies.
package struct TLVElement: Hashable, Sendable {
  /// What it is.
  package let tag: TLVTag
  /// The element with its tag and its length.
  package let whole: Range<Int>
  /// The content alone.
  package let content: Range<Int>
}

/// Why bytes are no sequence of elements; offsets count from the start of the outermost text.
package enum TLVFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Fewer than the four bytes of a tag and a length are left.
  case truncatedHeader(offset: Int)
  /// The length says more than there is.
  case lengthBeyondEnd(offset: Int)
  /// Composites are nested deeper than any message of the protocol.
  case tooDeep(offset: Int)

  package var description: String {
    switch self {
    case .truncatedHeader(let offset): "the TLV text ends in a tag or length at byte \(offset)"
    case .lengthBeyondEnd(let offset): "the length at byte \(offset) leads beyond the end"
    case .tooDeep(let offset): "elements are nested too deep at byte \(offset)"
    }
  }
}

/// Steps through elements: a tag and a length of 16 bits each, little-endian, and as many bytes of content.
///
/// Nothing is copied: elements are ranges of the one array.
package struct TLVReader: Sendable {
  /// The deepest nesting: what the protocol needs is 3, an extension inside signed data inside an assertion.
  package static let maximumDepth = 8

  private let bytes: [UInt8]
  private var position: Int
  private let end: Int
  private let depth: Int

  /// Reads from the start of `bytes`.
  package init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count, depth: 1) }

  private init(_ bytes: [UInt8], _ range: Range<Int>, depth: Int) {
    (self.bytes, position, end, self.depth) = (bytes, range.lowerBound, range.upperBound, depth)
  }

  /// How many bytes follow the last element that was read.
  package var rest: Int { end - position }

  /// The next element, or nil at the end.
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

  /// The elements inside a composite one.
  package func elements(of composite: TLVElement) throws(TLVFailure) -> TLVReader {
    guard depth < Self.maximumDepth else { throw .tooDeep(offset: composite.whole.lowerBound) }
    return TLVReader(bytes, composite.content, depth: depth + 1)
  }
}
