/// An ECDSA signature on a 256-bit curve: the numbers r and s (FIPS 186-5 section 6).
///
/// Decoding checks the form only. A signature with numbers that are zero or too large can be decoded but never verifies.
public struct ECDSASignature: Sendable, Hashable {
  /// The numbers r and s, each 32 bytes big-endian (IEEE P1363, RFC 7518 section 3.4).
  public let rawRepresentation: [UInt8]

  /// Creates a signature from r and s, 64 bytes.
  ///
  /// - Throws: ``CryptoFailure/invalidSignatureEncoding`` for another length.
  public init(rawRepresentation: [UInt8]) throws(CryptoFailure) {
    guard rawRepresentation.count == 64 else { throw .invalidSignatureEncoding }
    self.rawRepresentation = rawRepresentation
  }

  /// Decodes the sequence of r and s in strict DER (RFC 3279 section 2.2.3).
  ///
  /// - Throws: ``CryptoFailure/invalidSignatureEncoding`` for BER, trailing bytes, negative numbers, superfluous zeros and
  ///   numbers of more than 256 bits.
  public init(derRepresentation: [UInt8]) throws(CryptoFailure) {
    do throws(DERReader.Refusal) {
      var outer = DERReader(derRepresentation)
      var sequence = try outer.readSequence()
      try outer.finish()
      var raw: [UInt8] = []
      for _ in 0..<2 {
        let number = try sequence.readUnsignedInteger()
        guard number.count <= 32 else { throw DERReader.Refusal() }
        raw += [UInt8](repeating: 0, count: 32 - number.count) + number
      }
      try sequence.finish()
      rawRepresentation = raw
    } catch {
      throw .invalidSignatureEncoding
    }
  }

  /// Decodes a sequence of two numbers that may lack the leading zero of DER, or have more of them.
  ///
  /// Some FIDO authenticators write such signatures. Lengths are those of DER, and trailing bytes are rejected, so the
  /// numbers stay unambiguous.
  ///
  /// - Throws: ``CryptoFailure/invalidSignatureEncoding`` for any other deviation, and for numbers of more than 256 bits.
  package init(looseDERRepresentation bytes: [UInt8]) throws(CryptoFailure) {
    var position = 2
    guard bytes.count >= 8, bytes[0] == 0x30, bytes[1] < 0x80, Int(bytes[1]) == bytes.count - 2 else {
      throw .invalidSignatureEncoding
    }
    var raw: [UInt8] = []
    raw.reserveCapacity(64)
    for _ in 0..<2 {
      guard bytes.count - position >= 2, bytes[position] == 0x02 else { throw .invalidSignatureEncoding }
      let count = Int(bytes[position + 1])
      position += 2
      guard (1...0x7F).contains(count), count <= bytes.count - position else {
        throw .invalidSignatureEncoding
      }
      let digits = bytes[position..<(position + count)].drop { $0 == 0 }
      guard digits.count <= 32 else { throw .invalidSignatureEncoding }
      raw.append(contentsOf: repeatElement(0, count: 32 - digits.count))
      raw.append(contentsOf: digits)
      position += count
    }
    guard position == bytes.count else { throw .invalidSignatureEncoding }
    rawRepresentation = raw
  }

  /// The sequence of r and s in DER, 8 to 72 bytes.
  public var derRepresentation: [UInt8] {
    DERWriter.sequence(ofNumbersIn: rawRepresentation)
  }
}
