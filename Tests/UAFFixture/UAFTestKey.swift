import Foundation
package import SignetCrypto
package import SignetUAF

/// A UAF authenticator's key in software, which makes valid assertions and, element by element, invalid ones.
package struct UAFTestKey: Sendable {
  /// An element of an assertion: its tag and its content.
  package struct Element: Sendable {
    package var tag: TLVTag
    package var content: [UInt8]

    package init(_ tag: TLVTag, _ content: [UInt8]) { (self.tag, self.content) = (tag, content) }
  }

  /// The attestation of the key.
  package enum Attester: Sendable {
    /// The key itself.
    case itself
    /// A key with certificates in DER, the leaf first.
    case certified(P256.Signing.PrivateKey, [[UInt8]])
  }

  package var aaid: AAID
  package var keyID: KeyID
  package var privateKey: P256.Signing.PrivateKey
  package var algorithm: UAFAlgorithm
  package var keyFormat: UAFKeyFormat
  package var authenticatorVersion: UInt16 = 256
  package var signCounter: UInt32 = 1
  package var registrationCounter: UInt32 = 1
  package var attester = Attester.itself
  /// Changes its metadata statement.
  package var describe: @Sendable (inout MetadataStatement) -> Void = { _ in }
  /// The signer in place of ``privateKey``: a key of another algorithm than P-256.
  package var signer: UAFTestSigner?

  /// Makes a new P-256 key.
  ///
  /// - Parameters:
  ///   - aaid: The model that it claims.
  ///   - isDER: Whether it writes signatures and keys in DER.
  package init(aaid: AAID = AAID(vendor: 0x7357, model: 1), isDER: Bool = false) {
    self.aaid = aaid
    keyID = .random()
    privateKey = P256.Signing.PrivateKey()
    algorithm = isDER ? .p256DER : .p256RAW
    keyFormat = isDER ? .x962DER : .x962RAW
  }

  /// Makes a key for an algorithm, a new one except for RSA.
  ///
  /// - Parameters:
  ///   - algorithm: A supported algorithm.
  ///   - keyFormat: The encoding of the key.
  ///   - aaid: The model that it claims.
  ///   - isOther: Whether an RSA key is the second of the process's two (``UAFTestSigner``).
  package init(
    _ algorithm: UAFAlgorithm, _ keyFormat: UAFKeyFormat, aaid: AAID = AAID(vendor: 0x7357, model: 1),
    isOther: Bool = false
  ) {
    self.init(aaid: aaid)
    (self.algorithm, self.keyFormat) = (algorithm, keyFormat)
    if algorithm.scheme != .p256 { signer = UAFTestSigner(algorithm, isOther: isOther) }
  }

  /// The public key as encoded in registrations.
  package var encodedKey: [UInt8] {
    if let signer { return signer.publicKey(keyFormat) }
    return keyFormat == .x962DER
      ? privateKey.publicKey.derRepresentation : privateKey.publicKey.x963Representation
  }

  package var reference: KeyReference { KeyReference(aaid: aaid, keyID: keyID) }

  /// The metadata of its claimed model; with root certificates, the key needs a certificate.
  package func statement(roots: [[UInt8]] = []) -> MetadataStatement {
    var statement = MetadataStatement(
      aaid: aaid, description: "A key of tests", authenticatorVersion: authenticatorVersion,
      algorithm: algorithm, keyFormat: keyFormat,
      userVerificationDetails: [[.init(.passcode, accuracy: nil)]], keyProtection: .software,
      matcherProtection: .software, display: [.any])
    statement.attestationRootCertificates = roots
    if !roots.isEmpty { statement.attestationTypes = [.basicFull] }
    describe(&statement)
    return statement
  }

  /// The key as a server stores it.
  package func registered(signCounter: UInt32? = 0) throws(UAFKeyFailure) -> RegisteredKey {
    RegisteredKey(
      reference: reference, publicKey: try UAFPublicKey(encodedKey, format: keyFormat, for: algorithm),
      algorithm: algorithm, signCounter: signCounter)
  }

  // MARK: Elements

  /// The signed elements of a registration.
  package func registrationElements(_ hash: [UInt8]) -> [Element] {
    [
      Element(.aaid, Array(aaid.text.utf8)),
      Element(
        .assertionInfo,
        Self.little(authenticatorVersion) + [0x01] + Self.little(algorithm.rawValue)
          + Self.little(keyFormat.rawValue)),
      Element(.finalChallengeHash, hash), Element(.keyID, keyID.bytes),
      Element(.counters, Self.little(signCounter) + Self.little(registrationCounter)),
      Element(.publicKey, encodedKey),
    ]
  }

  /// The signed elements of an authentication; with a hash, a transaction was confirmed.
  package func authenticationElements(_ hash: [UInt8], transactionHash: [UInt8] = []) -> [Element] {
    [
      Element(.aaid, Array(aaid.text.utf8)),
      Element(
        .assertionInfo,
        Self.little(authenticatorVersion) + [transactionHash.isEmpty ? 0x01 : 0x02]
          + Self.little(algorithm.rawValue)),
      Element(.authenticatorNonce, SecureRandom.bytes(8)), Element(.finalChallengeHash, hash),
      Element(.transactionContentHash, transactionHash), Element(.keyID, keyID.bytes),
      Element(.counters, Self.little(signCounter)),
    ]
  }

  // MARK: Assertions

  /// Signs elements and appends the attestation.
  ///
  /// - Parameters:
  ///   - elements: The signed elements, unchanged.
  ///   - edit: Changes the outer elements: the signed one, and the attestation.
  /// - Throws: ``CryptoFailure`` if memory is exhausted.
  /// - Returns: The assertion.
  package func registrationAssertion(
    _ elements: [Element], edit: (inout [Element]) -> Void = { _ in }
  ) throws(CryptoFailure) -> [UInt8] {
    let signed = Self.composite(.keyRegistrationData, elements)
    var attestation: [Element]
    let tag: TLVTag
    switch attester {
    case .itself:
      attestation = [Element(.signature, try sign(signed, privateKey))]
      tag = .attestationBasicSurrogate
    case .certified(let key, let certificates):
      attestation = [Element(.signature, try sign(signed, key))]
      attestation += certificates.map { Element(.attestationCertificate, $0) }
      tag = .attestationBasicFull
    }
    var parts = [
      Element(.keyRegistrationData, Array(signed[4...])),
      Element(tag, attestation.flatMap(Self.encode)),
    ]
    edit(&parts)
    return Self.composite(.registrationAssertion, parts)
  }

  /// Signs elements.
  ///
  /// - Parameters:
  ///   - elements: The signed elements, unchanged.
  ///   - edit: Changes the outer elements: the signed one, and the signature.
  /// - Throws: ``CryptoFailure`` if memory is exhausted.
  /// - Returns: The assertion.
  package func authenticationAssertion(
    _ elements: [Element], edit: (inout [Element]) -> Void = { _ in }
  ) throws(CryptoFailure) -> [UInt8] {
    let signed = Self.composite(.signedData, elements)
    var parts = [
      Element(.signedData, Array(signed[4...])), Element(.signature, try sign(signed, privateKey)),
    ]
    edit(&parts)
    return Self.composite(.authenticationAssertion, parts)
  }

  /// The signature of bytes, raw or in DER by the algorithm.
  package func sign(
    _ bytes: [UInt8], _ key: P256.Signing.PrivateKey
  ) throws(CryptoFailure) -> [UInt8] {
    if let signer { return signer.signature(for: bytes) }
    let signature = try key.signature(for: bytes)
    return algorithm.isDER ? signature.derRepresentation : signature.rawRepresentation
  }

  /// The encoding of an element.
  package static func encode(_ element: Element) -> [UInt8] {
    var writer = TLVWriter()
    writer.write(element.tag, element.content)
    return writer.bytes
  }

  /// The encoding of an element with inner elements.
  package static func composite(_ tag: TLVTag, _ elements: [Element]) -> [UInt8] {
    encode(Element(tag, elements.flatMap(encode)))
  }

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<(number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

/// An authority for keys of tests, with its certificates.
package struct UAFTestAuthority: Sendable {
  private let authority: CertificateAuthority

  package init(at unixTime: Int64 = CertificateAuthority.currentUnixTime()) throws(CryptoFailure) {
    authority = try CertificateAuthority(commonName: "Attestation of tests", at: unixTime)
  }

  /// Its own certificate in DER.
  package var root: [UInt8] {
    get throws(CryptoFailure) { Self.der(try authority.certificatePEM) }
  }

  /// A key with a certificate.
  package func attester(
    validDays: Int = 397, at unixTime: Int64 = CertificateAuthority.currentUnixTime()
  ) throws(CryptoFailure) -> UAFTestKey.Attester {
    let issued = try authority.issueServerCertificate(
      dnsNames: ["attestation.example"], validDays: validDays, at: unixTime)
    let key = try P256.Signing.PrivateKey(
      pem: SecretBytes(copying: Array(issued.insecurePrivateKeyPEM.utf8)))
    return .certified(key, [Self.der(issued.certificatePEM)])
  }

  private static func der(_ pem: String) -> [UInt8] {
    let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    return Data(base64Encoded: base64).map(Array.init) ?? []
  }
}
