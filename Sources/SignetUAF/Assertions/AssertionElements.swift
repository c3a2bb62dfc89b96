/// A parser for the elements that registration and authentication assertions share.
struct AssertionElements {
  let bytes: [UInt8]

  /// The ids of the critical extensions that the caller evaluates.
  let understood: Set<String>

  /// Parses the outermost element, which must have this tag and no trailing bytes.
  init(_ bytes: [UInt8], top: TLVTag, understood: Set<String>) throws(AssertionFailure) {
    guard (1...4096).contains(bytes.count) else { throw .byteCount(bytes.count) }
    (self.bytes, self.understood) = (bytes, understood)
    var outer = TLVReader(bytes)
    guard let element = try Self.next(&outer) else { throw .byteCount(0) }
    guard element.tag == top else { throw .topTag(element.tag) }
    guard outer.rest == 0 else { throw .trailingBytes(outer.rest) }
    (self.outer, self.top) = (outer, element)
  }

  private let outer: TLVReader
  private let top: TLVElement

  /// Returns a reader of the assertion's elements.
  func reader() throws(AssertionFailure) -> TLVReader { try elements(of: top, in: outer) }

  func elements(of composite: TLVElement, in reader: TLVReader) throws(AssertionFailure) -> TLVReader {
    do throws(TLVFailure) { return try reader.elements(of: composite) } catch { throw .tlv(error) }
  }

  static func next(_ reader: inout TLVReader) throws(AssertionFailure) -> TLVElement? {
    do throws(TLVFailure) { return try reader.next() } catch { throw .tlv(error) }
  }

  /// Stores an element that may occur once; throws if it occurs again.
  static func store(_ element: TLVElement, _ slot: inout TLVElement?) throws(AssertionFailure) {
    guard slot == nil else { throw .repeated(element.tag) }
    slot = element
  }

  /// Returns the content of a required element.
  func content(
    _ tag: TLVTag, _ element: TLVElement?, _ counts: ClosedRange<Int>
  ) throws(AssertionFailure) -> Range<Int> {
    guard let element else { throw .missing(tag) }
    guard counts.contains(element.content.count) else { throw .length(tag, element.content.count) }
    return element.content
  }

  func aaid(_ element: TLVElement?) throws(AssertionFailure) -> AAID {
    let range = try content(.aaid, element, 9...9)
    guard let aaid = AAID(ascii: bytes[range]) else { throw .aaid }
    return aaid
  }

  func keyID(_ element: TLVElement?) throws(AssertionFailure) -> KeyID {
    let range = try content(.keyID, element, KeyID.byteCounts)
    guard let keyID = KeyID(Array(bytes[range])) else { throw .length(.keyID, range.count) }
    return keyID
  }

  func number16(_ index: Int) -> UInt16 { UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8 }

  func number32(_ index: Int) -> UInt32 { UInt32(number16(index)) | UInt32(number16(index + 2)) << 16 }

  /// Handles an element that is not part of the schema: collects extensions, and rejects unknown critical elements.
  func readOptional(
    _ element: TLVElement, in reader: TLVReader, _ extensions: inout [AssertionExtension]
  ) throws(AssertionFailure) {
    switch element.tag {
    case .criticalExtension, .ignorableExtension:
      let assertionExtension = try readExtension(element, in: reader)
      guard !assertionExtension.isCritical || understood.contains(assertionExtension.id) else {
        throw .unknownExtension(assertionExtension.id)
      }
      extensions.append(assertionExtension)
    default:
      guard !element.tag.isCritical else { throw .unknownCritical(element.tag) }
    }
  }

  private func readExtension(
    _ element: TLVElement, in reader: TLVReader
  ) throws(AssertionFailure) -> AssertionExtension {
    let isCritical = element.tag.isCritical
    var inner = try elements(of: element, in: reader)
    var (id, data): (TLVElement?, TLVElement?) = (nil, nil)
    while let part = try Self.next(&inner) {
      switch part.tag {
      case .extensionID: try Self.store(part, &id)
      case .extensionData: try Self.store(part, &data)
      default: guard !part.tag.isCritical else { throw .unknownCritical(part.tag) }
      }
    }
    let idRange = try content(.extensionID, id, 1...32)
    let dataRange = try content(.extensionData, data, 0...4096)
    return AssertionExtension(
      id: String(decoding: bytes[idRange], as: UTF8.self), data: Array(bytes[dataRange]),
      isCritical: isCritical)
  }
}
