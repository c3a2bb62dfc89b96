/// The elements of a command, an answer, or a nested composite.
struct CommandElements {
  static let maximumByteCount = 65_535

  let tag: TLVTag
  private let elements: [(tag: TLVTag, content: [UInt8])]

  /// Parses one composite element without trailing bytes.
  init(_ bytes: [UInt8]) throws(AuthenticatorCommandFailure) {
    guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
    var reader = TLVReader(bytes)
    guard let outer = try Self.next(&reader), reader.rest == 0, outer.tag.isComposite else {
      throw .notACommand
    }
    try self.init(outer.tag, Array(bytes[outer.content]))
  }

  /// Parses the content of a composite element.
  init(_ tag: TLVTag, _ content: [UInt8]) throws(AuthenticatorCommandFailure) {
    self.tag = tag
    var reader = TLVReader(content)
    var elements: [(tag: TLVTag, content: [UInt8])] = []
    while let element = try Self.next(&reader) {
      elements.append((element.tag, Array(content[element.content])))
    }
    self.elements = elements
  }

  private static func next(_ reader: inout TLVReader) throws(AuthenticatorCommandFailure) -> TLVElement? {
    do throws(TLVFailure) { return try reader.next() } catch { throw .tlv(error) }
  }

  /// Rejects unknown critical elements.
  func refuse(except allowedTags: Set<TLVTag>) throws(AuthenticatorCommandFailure) {
    for element in elements where element.tag.isCritical && !allowedTags.contains(element.tag) {
      throw .unknownCritical(element.tag)
    }
  }

  /// Returns the contents of all elements with a tag.
  func all(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> [[UInt8]] {
    let contents = elements.filter { $0.tag == tag }.map(\.content)
    guard contents.allSatisfy({ counts.contains($0.count) }) else { throw .content(tag) }
    return contents
  }

  func optional(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> [UInt8]? {
    let contents = try all(tag, counts)
    guard contents.count <= 1 else { throw .repeated(tag) }
    return contents.first
  }

  func required(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> [UInt8] {
    guard let content = try optional(tag, counts) else { throw .missing(tag) }
    return content
  }

  func optionalText(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> String?
  {
    guard let content = try optional(tag, counts) else { return nil }
    guard let text = String(validating: content, as: UTF8.self) else { throw .content(tag) }
    return text
  }

  func text(_ tag: TLVTag, _ counts: ClosedRange<Int>) throws(AuthenticatorCommandFailure) -> String {
    guard let text = try optionalText(tag, counts) else { throw .missing(tag) }
    return text
  }

  func number(_ tag: TLVTag, byteCount: Int) throws(AuthenticatorCommandFailure) -> UInt16 {
    Self.number(try required(tag, byteCount...byteCount))
  }

  static func number<Number: FixedWidthInteger>(_ bytes: some Collection<UInt8>) -> Number {
    bytes.reversed().reduce(0) { $0 << 8 | Number($1) }
  }
}
