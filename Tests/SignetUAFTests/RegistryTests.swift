import SignetCrypto
import SignetUAF
import Testing

@Suite struct RegistryTests {
  @Test("a model's name has four digits, a mark and four digits, in any case")
  func aaid() {
    let aaid = AAID("ab12#00fF")
    #expect(aaid?.vendor == 0xAB12 && aaid?.model == 0x00FF && aaid?.text == "ab12#00fF")
    #expect(aaid == AAID("AB12#00FF") && aaid?.hashValue == AAID("AB12#00FF")?.hashValue)
    #expect(AAID(vendor: 0xAB12, model: 0xFF).text == "AB12#00FF" && aaid?.vendorID == "AB12")
    for bad in [
      "", "AB12", "AB12#00F", "AB12#00FF0", "AB12-00FF", "AB1G#00FF", "+B12#00FF", "AB12#00F\u{E9}",
    ] {
      #expect(AAID(bad) == nil, "\(bad)")
    }
    #expect(AAID.areSame("ab12#00fF", "AB12#00ff") && !AAID.areSame("AB12#00FF", "AB12#00FE"))
    #expect([AAID(vendor: 2, model: 1), AAID(vendor: 1, model: 2)].sorted().first?.vendor == 1)
  }

  @Test("a key's name has 32 to 2048 bytes") func keyID() {
    #expect(
      KeyID([UInt8](repeating: 1, count: 31)) == nil && KeyID([UInt8](repeating: 1, count: 2049)) == nil)
    #expect(
      KeyID([UInt8](repeating: 1, count: 32)) != nil && KeyID([UInt8](repeating: 1, count: 2048)) != nil)
    #expect(KeyID.random() != KeyID.random() && KeyID.random().bytes.count == 32)
  }

  @Test("registered numbers have their names, others their digits") func names() {
    #expect(UAFAlgorithm.p256DER.description == "ALG_SIGN_SECP256R1_ECDSA_SHA256_DER (0x0002)")
    #expect(
      UAFAlgorithm(rawValue: 0xABC).description == "0x0ABC" && UAFAlgorithm(rawValue: 0xABC).scheme == nil)
    #expect(UAFAlgorithm.sm2RAW.scheme == nil && UAFAlgorithm.sm2RAW.name != nil)
    for number in UInt16(1)...9 { #expect(UAFAlgorithm(rawValue: number).name != nil) }
    for number in UInt16(0x100)...0x103 {
      let format = UAFKeyFormat(rawValue: number)
      #expect(UAFKeyFormat(named: format.name?.lowercased() ?? "") == format)
      #expect(
        UAFKeyFormat(named: number.registryHex) == format && UAFKeyFormat(named: String(number)) == format)
    }
    #expect(UAFKeyFormat(named: "raw") == nil && UAFKeyFormat(named: "0x10000") == nil)
    #expect(AttestationType.ecdaa.description == "ecdaa (0x3E09)")
    #expect(TLVTag.aaid.description == "TAG_AAID (0x2E0B)" && TLVTag(rawValue: 1).description == "0x0001")
  }

  @Test("user verification matches if equal or with a common bit")
  func userVerification() {
    let either: UserVerification = [.fingerprint, .passcode]
    let both: UserVerification = [.fingerprint, .passcode, .all]
    #expect(either.matches(.passcode) && either.matches(either) && both.matches(both))
    #expect(
      !either.matches(.faceprint) && !both.matches(either) && !either.matches(both)
        && !both.matches(.passcode))
  }

  @Test("authenticator statuses map to ASM and client statuses") func mapping() {
    #expect(AuthenticatorStatus.userNotEnrolled.asmStatus(for: .register) == .userNotEnrolled)
    #expect(AuthenticatorStatus.userNotEnrolled.asmStatus(for: .sign) == .accessDenied)
    #expect(AuthenticatorStatus.commandNotSupported.asmStatus(for: .deregister, moduleCanDoIt: true) == .ok)
    #expect(AuthenticatorStatus.commandNotSupported.asmStatus(for: .deregister) == .error)
    let errors: [AuthenticatorStatus] = [.unknown, .attestationNotSupported, .parametersInvalid, .timeout]
    #expect(errors.allSatisfy { $0.asmStatus(for: .sign) == .error })
    let same: [(AuthenticatorStatus, ASMStatus)] = [
      (.ok, .ok), (.accessDenied, .accessDenied), (.userCancelled, .userCancelled),
      (.cannotRenderTransactionContent, .cannotRenderTransactionContent),
      (.keyDisappearedPermanently, .keyDisappearedPermanently), (.userNotResponsive, .userNotResponsive),
      (.insufficientResources, .insufficientAuthenticatorResources), (.userLockout, .userLockout),
    ]
    #expect(same.allSatisfy { $0.asmStatus(for: .sign) == $1 })
    #expect(same.count + errors.count + 2 == AuthenticatorStatus.allCases.count)
    let client: [ASMStatus: UAFClientError] = [
      .ok: .noError, .error: .unknown, .accessDenied: .authenticatorAccessDenied,
      .userCancelled: .userCancelled, .cannotRenderTransactionContent: .invalidTransactionContent,
      .keyDisappearedPermanently: .keyDisappearedPermanently,
      .authenticatorDisconnected: .noSuitableAuthenticator, .userNotResponsive: .userNotResponsive,
      .insufficientAuthenticatorResources: .insufficientAuthenticatorResources, .userLockout: .userLockout,
      .userNotEnrolled: .userNotEnrolled,
    ]
    #expect(ASMStatus.allCases.allSatisfy { $0.clientError == client[$0] })
    #expect(ASMStatus.allCases.filter(\.asksForOthers).count == 2)
    #expect(UAFStatus.allCases.map(\.rawValue).min() == 1200 && UAFStatus.allCases.count == 19)
  }

  @Test("the special extension is never critical") func criticalBits() {
    #expect(TLVTag.criticalExtension.isCritical && !TLVTag.ignorableExtension.isCritical)
    #expect(TLVTag.ignorableExtension.isComposite && TLVTag.aaid.isCritical && !TLVTag.aaid.isComposite)
    #expect(!TLVTag.userVerificationIndex.isCritical)
  }

  @Test("elements: lengths, depth and trailing bytes") func elements() throws {
    #expect(throws: TLVFailure.truncatedHeader(offset: 0)) {
      var reader = TLVReader([1, 2, 3]); _ = try reader.next()
    }
    #expect(throws: TLVFailure.lengthBeyondEnd(offset: 2)) {
      var reader = TLVReader([1, 2, 1, 0])
      _ = try reader.next()
    }
    var writer = TLVWriter()
    writer.write(.aaid, [1, 2])
    writer.write(.keyRegistrationData) { $0.write(.keyID, [3]) }
    #expect(writer.bytes == [0x0B, 0x2E, 2, 0, 1, 2, 0x03, 0x3E, 5, 0, 0x09, 0x2E, 1, 0, 3])
    var reader = TLVReader(writer.bytes)
    let first = try #require(try reader.next())
    #expect(first.tag == .aaid && first.whole == 0..<6 && first.content == 4..<6 && reader.rest == 9)
    var inner = try reader.elements(of: try #require(try reader.next()))
    #expect(try inner.next()?.content == 14..<15)
    #expect(try inner.next() == nil && reader.next() == nil)

    // A nested element, one level too deep.
    var nested: [UInt8] = []
    for _ in 0..<12 {
      var outer = TLVWriter()
      outer.write(.keyRegistrationData, nested)
      nested = outer.bytes
    }
    let failure = #expect(throws: TLVFailure.self) {
      var reader = TLVReader(nested)
      while let element = try reader.next() { reader = try reader.elements(of: element) }
    }
    #expect(failure == .tooDeep(offset: 4 * (TLVReader.maximumDepth - 1)))
  }

  @Test("signatures without leading zeros are read, except in strict mode")
  func looseDER() throws {
    let key = P256.Signing.PrivateKey()
    let publicKey = UAFPublicKey.p256(key.publicKey)
    let message: [UInt8] = Array("message".utf8)
    // Half of all numbers have the top bit set, so a few attempts find one.
    var loose: [UInt8]?
    while loose == nil {
      let raw = try key.signature(for: message).rawRepresentation
      if raw[0] >= 0x80 { loose = [0x30, 68, 0x02, 32] + raw[..<32] + [0x02, 32] + raw[32...] }
    }
    let signature = try #require(loose)
    #expect(publicKey.isValidSignature(signature, .p256DER, of: message, in: 0..<7))
    #expect(!publicKey.isValidSignature(signature, .p256DER, of: message, in: 0..<7, isStrict: true))
    #expect(!publicKey.isValidSignature(signature, .p256RAW, of: message, in: 0..<7))
    #expect(!publicKey.isValidSignature(signature, .secp256k1DER, of: message, in: 0..<7))
    #expect(!publicKey.isValidSignature(signature, .p256DER, of: message, in: 0..<6))
    for bad in [signature + [0], Array(signature.dropLast()), [0x30, 0], [], [0x30, 0x81] + signature] {
      #expect(!publicKey.isValidSignature(bad, .p256DER, of: message, in: 0..<7))
    }
  }

  @Test("keys: another format or curve than the algorithm's is refused") func keys() {
    let point = P256.Signing.PrivateKey().publicKey.x963Representation
    #expect(throws: UAFKeyFailure.format(.rsa2048RAW, .p256RAW)) {
      _ = try UAFPublicKey(point, format: .rsa2048RAW, for: .p256RAW)
    }
    #expect(throws: UAFKeyFailure.format(.x962RAW, .rsaPSSRAW)) {
      _ = try UAFPublicKey(point, format: .x962RAW, for: .rsaPSSRAW)
    }
    #expect(throws: UAFKeyFailure.algorithm(.sm2RAW)) {
      _ = try UAFPublicKey(point, format: .x962RAW, for: .sm2RAW)
    }
    #expect(throws: UAFKeyFailure.key(.invalidPoint)) {
      _ = try UAFPublicKey(point, format: .x962RAW, for: .secp256k1RAW)
    }
    #expect(throws: UAFKeyFailure.key(.invalidPublicKeyEncoding)) {
      _ = try UAFPublicKey(point, format: .x962DER, for: .p256DER)
    }
    #expect(throws: UAFKeyFailure.self) { _ = try UAFPublicKey(point, format: .rsa2048RAW, for: .rsaPSSRAW) }
    #expect(throws: UAFKeyFailure.self) {
      _ = try UAFPublicKey([UInt8](repeating: 0xFF, count: 256) + [2], format: .rsa2048RAW, for: .rsaPSSRAW)
    }
    #expect(throws: UAFKeyFailure.key(.rsaModulus(bits: 2047))) {
      _ = try UAFPublicKey(
        [0x7F] + [UInt8](repeating: 0xFF, count: 255) + [1, 0, 1], format: .rsa2048RAW, for: .rsaPSSRAW)
    }
  }
}
