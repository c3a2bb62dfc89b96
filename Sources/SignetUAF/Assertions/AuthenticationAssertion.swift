/// A parsed, unverified authentication assertion (TAG_UAFV1_AUTH_ASSERTION).
package struct AuthenticationAssertion: Hashable, Sendable {
  /// The whole assertion.
  package let bytes: [UInt8]
  package let data: SignedData
  /// The signature over the encoded signed data with tag and length.
  package let signature: [UInt8]
  /// The extensions outside the signed data.
  package let unsignedExtensions: [AssertionExtension]
  /// The range of the signed bytes: the signed data with tag and length.
  package let signedRange: Range<Int>

  /// Creates an assertion from data and signature.
  package init(
    _ data: SignedData, signature: [UInt8], unsignedExtensions: [AssertionExtension] = []
  ) {
    var writer = TLVWriter()
    let encoded = data.encoded
    writer.write(.authenticationAssertion) { writer in
      writer.write(encoded: encoded)
      writer.write(.signature, signature)
      for item in unsignedExtensions { item.write(to: &writer) }
    }
    bytes = writer.bytes
    self.data = data
    self.signature = signature
    self.unsignedExtensions = unsignedExtensions
    signedRange = 4..<(4 + encoded.count)
  }

  /// Parses an assertion.
  ///
  /// - Parameters:
  ///   - bytes: The assertion, without trailing bytes.
  ///   - understood: The ids of critical extensions that the caller evaluates.
  /// - Throws: ``AssertionFailure`` if the assertion is malformed.
  package init(parsing bytes: [UInt8], understood: Set<String> = []) throws(AssertionFailure) {
    let elements = try AssertionElements(bytes, top: .authenticationAssertion, understood: understood)
    var reader = try elements.reader()
    var unsigned: [AssertionExtension] = []
    var (signed, signature): (TLVElement?, TLVElement?) = (nil, nil)
    while let element = try AssertionElements.next(&reader) {
      switch element.tag {
      case .signedData: try AssertionElements.store(element, &signed)
      case .signature: try AssertionElements.store(element, &signature)
      default: try elements.readOptional(element, in: reader, &unsigned)
      }
    }
    guard let signed else { throw .missing(.signedData) }
    data = try Self.readData(elements, try elements.elements(of: signed, in: reader))
    self.signature = Array(bytes[try elements.content(.signature, signature, 1...4096)])
    self.bytes = bytes
    unsignedExtensions = unsigned
    signedRange = signed.whole
  }

  private static func readData(
    _ elements: AssertionElements, _ start: TLVReader
  ) throws(AssertionFailure) -> SignedData {
    var reader = start
    var extensions: [AssertionExtension] = []
    var (aaid, info, nonce): (TLVElement?, TLVElement?, TLVElement?) = (nil, nil, nil)
    var (hash, transaction): (TLVElement?, TLVElement?) = (nil, nil)
    var (keyID, counters): (TLVElement?, TLVElement?) = (nil, nil)
    while let element = try AssertionElements.next(&reader) {
      switch element.tag {
      case .aaid: try AssertionElements.store(element, &aaid)
      case .assertionInfo: try AssertionElements.store(element, &info)
      case .authenticatorNonce: try AssertionElements.store(element, &nonce)
      case .finalChallengeHash: try AssertionElements.store(element, &hash)
      case .transactionContentHash: try AssertionElements.store(element, &transaction)
      case .keyID: try AssertionElements.store(element, &keyID)
      case .counters: try AssertionElements.store(element, &counters)
      default: try elements.readOptional(element, in: reader, &extensions)
      }
    }
    let name = try elements.aaid(aaid)
    let infoStart = try elements.content(.assertionInfo, info, 5...5).lowerBound
    let nonceRange = try elements.content(.authenticatorNonce, nonce, 8...1024)
    let hashRange = try elements.content(.finalChallengeHash, hash, 32...32)
    let transactionRange = try elements.content(.transactionContentHash, transaction, 0...32)
    guard transactionRange.isEmpty || transactionRange.count == 32 else {
      throw .length(.transactionContentHash, transactionRange.count)
    }
    let key = try elements.keyID(keyID)
    let countersStart = try elements.content(.counters, counters, 4...4).lowerBound
    let bytes = elements.bytes
    return SignedData(
      aaid: name, authenticatorVersion: elements.number16(infoStart), mode: bytes[infoStart + 2],
      algorithm: UAFAlgorithm(rawValue: elements.number16(infoStart + 3)), nonce: Array(bytes[nonceRange]),
      finalChallengeHash: Array(bytes[hashRange]), transactionHash: Array(bytes[transactionRange]),
      keyID: key, signCounter: elements.number32(countersStart), extensions: extensions)
  }
}
