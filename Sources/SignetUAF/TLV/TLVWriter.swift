/// An encoder of TLV elements.
package struct TLVWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Writes an element; its content has at most 65,535 bytes.
  package mutating func write(_ tag: TLVTag, _ content: some Collection<UInt8>) {
    precondition(content.count <= Int(UInt16.max), "an element holds at most 65535 bytes")
    write(tag.rawValue)
    write(UInt16(content.count))
    bytes.append(contentsOf: content)
  }

  /// Writes a composite element with the content that `body` writes.
  package mutating func write(_ tag: TLVTag, _ body: (inout TLVWriter) -> Void) {
    var inner = TLVWriter()
    body(&inner)
    write(tag, inner.bytes)
  }

  /// Writes elements that are already encoded.
  package mutating func write(encoded elements: [UInt8]) { bytes.append(contentsOf: elements) }

  /// Writes 16 bits, little-endian.
  package mutating func write(_ number: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: number))
    bytes.append(UInt8(truncatingIfNeeded: number >> 8))
  }

  /// Writes 32 bits, little-endian.
  package mutating func write(_ number: UInt32) {
    write(UInt16(truncatingIfNeeded: number))
    write(UInt16(truncatingIfNeeded: number >> 16))
  }

  package mutating func write(_ byte: UInt8) { bytes.append(byte) }
}
