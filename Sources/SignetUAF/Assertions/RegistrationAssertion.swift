import SignetCrypto

/// A parsed, unverified registration assertion (TAG_UAFV1_REG_ASSERTION).
package struct RegistrationAssertion: Hashable, Sendable {
  /// The whole assertion.
  package let bytes: [UInt8]
  package let data: KeyRegistrationData
  package let attestation: Attestation
  /// The extensions outside the signed data.
  package let unsignedExtensions: [AssertionExtension]
  /// The range of the signed bytes: the key registration data with tag and length.
  package let signedRange: Range<Int>

  /// Creates an assertion from data and attestation.
  package init(
    _ data: KeyRegistrationData, _ attestation: Attestation, unsignedExtensions: [AssertionExtension] = []
  ) {
    var writer = TLVWriter()
    let encoded = data.encoded
    writer.write(.registrationAssertion) { writer in
      writer.write(encoded: encoded)
      writer.write(TLVTag(rawValue: attestation.type.rawValue)) { writer in
        writer.write(.signature, attestation.signature)
        if case .basicFull(_, let certificates) = attestation {
          for certificate in certificates { writer.write(.attestationCertificate, certificate) }
        }
      }
      for item in unsignedExtensions { item.write(to: &writer) }
    }
    bytes = writer.bytes
    self.data = data
    self.attestation = attestation
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
    let elements = try AssertionElements(bytes, top: .registrationAssertion, understood: understood)
    var reader = try elements.reader()
    var unsigned: [AssertionExtension] = []
    var (signed, attestation): (TLVElement?, TLVElement?) = (nil, nil)
    while let element = try AssertionElements.next(&reader) {
      switch element.tag {
      case .keyRegistrationData: try AssertionElements.store(element, &signed)
      case .attestationBasicFull, .attestationBasicSurrogate, .attestationECDAA:
        guard attestation == nil else { throw .severalAttestations }
        attestation = element
      default: try elements.readOptional(element, in: reader, &unsigned)
      }
    }
    guard let signed else { throw .missing(.keyRegistrationData) }
    data = try Self.readData(elements, try elements.elements(of: signed, in: reader))
    guard let attestation else { throw .noAttestation }
    self.attestation = try Self.readAttestation(
      elements, attestation.tag, try elements.elements(of: attestation, in: reader))
    self.bytes = bytes
    unsignedExtensions = unsigned
    signedRange = signed.whole
  }

  private static func readData(
    _ elements: AssertionElements, _ start: TLVReader
  ) throws(AssertionFailure) -> KeyRegistrationData {
    var reader = start
    var extensions: [AssertionExtension] = []
    var (aaid, info, hash): (TLVElement?, TLVElement?, TLVElement?) = (nil, nil, nil)
    var (keyID, counters, publicKey): (TLVElement?, TLVElement?, TLVElement?) = (nil, nil, nil)
    while let element = try AssertionElements.next(&reader) {
      switch element.tag {
      case .aaid: try AssertionElements.store(element, &aaid)
      case .assertionInfo: try AssertionElements.store(element, &info)
      case .finalChallengeHash: try AssertionElements.store(element, &hash)
      case .keyID: try AssertionElements.store(element, &keyID)
      case .counters: try AssertionElements.store(element, &counters)
      case .publicKey: try AssertionElements.store(element, &publicKey)
      default: try elements.readOptional(element, in: reader, &extensions)
      }
    }
    let name = try elements.aaid(aaid)
    let infoStart = try elements.content(.assertionInfo, info, 7...7).lowerBound
    let hashRange = try elements.content(.finalChallengeHash, hash, 32...32)
    let key = try elements.keyID(keyID)
    let countersStart = try elements.content(.counters, counters, 8...8).lowerBound
    let publicKeyRange = try elements.content(.publicKey, publicKey, 1...2048)
    let bytes = elements.bytes
    return KeyRegistrationData(
      aaid: name, authenticatorVersion: elements.number16(infoStart), mode: bytes[infoStart + 2],
      algorithm: UAFAlgorithm(rawValue: elements.number16(infoStart + 3)),
      keyFormat: UAFKeyFormat(rawValue: elements.number16(infoStart + 5)),
      finalChallengeHash: Array(bytes[hashRange]), keyID: key,
      signCounter: elements.number32(countersStart),
      registrationCounter: elements.number32(countersStart + 4), publicKey: Array(bytes[publicKeyRange]),
      extensions: extensions)
  }

  private static func readAttestation(
    _ elements: AssertionElements, _ tag: TLVTag, _ start: TLVReader
  ) throws(AssertionFailure) -> Attestation {
    var reader = start
    var signature: TLVElement?
    var certificates: [[UInt8]] = []
    var ignored: [AssertionExtension] = []
    while let element = try AssertionElements.next(&reader) {
      switch element.tag {
      case .signature: try AssertionElements.store(element, &signature)
      case .attestationCertificate where tag == .attestationBasicFull:
        guard !element.content.isEmpty else { throw .length(element.tag, 0) }
        certificates.append(Array(elements.bytes[element.content]))
      default: try elements.readOptional(element, in: reader, &ignored)
      }
    }
    let value = Array(elements.bytes[try elements.content(.signature, signature, 1...4096)])
    switch tag {
    case .attestationBasicFull:
      guard !certificates.isEmpty else { throw .missing(.attestationCertificate) }
      return .basicFull(signature: value, certificates: certificates)
    case .attestationBasicSurrogate: return .basicSurrogate(signature: value)
    default: return .ecdaa(signature: value)
    }
  }
}

extension RegistrationAssertion {
  /// Verifies the attestation's signature, by the new key itself or by the key of the first certificate.
  ///
  /// The trust in the certificate is not verified here. ECDAA is always invalid.
  func isSigned(by key: UAFPublicKey, isStrict: Bool) throws(UAFKeyFailure) -> Bool {
    let signer: UAFPublicKey
    switch attestation {
    case .basicSurrogate: signer = key
    case .basicFull(_, let certificates):
      guard let leaf = certificates.first else { return false }
      let info: [UInt8]
      do throws(CryptoFailure) {
        info = try SubjectPublicKeyInfo.ofCertificate(der: leaf)
      } catch {
        throw .key(error)
      }
      signer = try UAFPublicKey(subjectPublicKeyInfo: info, for: data.algorithm)
    case .ecdaa: return false
    }
    return signer.isValidSignature(
      attestation.signature, data.algorithm, of: bytes, in: signedRange, isStrict: isStrict)
  }
}
