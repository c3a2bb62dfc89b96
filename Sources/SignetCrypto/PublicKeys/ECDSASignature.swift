/// An ECDSA signature on a 256-bit curve: the numbers r and s (FIPS 186-5 section 6).
///
/// Decoding checks the form only. A signature whose numbers are zero or too large is decoded and never valid.
public struct ECDSASignature: Sendable, Hashable {
  /// r and then s, each 32 bytes big-endian (IEEE P1363, RFC 7518 section 3.4).
  public let rawRepresentation: [UInt8]

  /// Takes r and then s, 64 bytes.
  ///
  /// - Throws: ``CryptoFailure/invalidSignatureEncoding`` for another length.
  public init(rawRepresentation: [UInt8]) throws(CryptoFailure) {
    guard rawRepresentation.count == 64 else { throw .invalidSignatureEncoding }
    self.rawRepresentation = rawRepresentation
  }

  /// Decodes the sequence of r and s in strict DER (RFC 3279 section 2.2.3).
  ///
  /// - Throws: ``CryptoFailure/invalidSignatureEncoding`` for BER, trailing bytes, negative numbers, needless
  ///   zeros and numbers of more than 256 bits.
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

  /// The sequence of r and s in DER, 8 to 72 bytes.
  public var derRepresentation: [UInt8] {
    DERWriter.sequence(ofNumbersIn: rawRepresentation)
  }
}
