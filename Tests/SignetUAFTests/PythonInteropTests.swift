import Foundation
import SignetCrypto
import SignetJSON
import SignetUAF
import SignetTestKit
import Testing
import UAFFixture

/// Both directions with Python's `cryptography` package: independent assertions of every algorithm and key format, and ours
/// verified there.
///
/// The interpreter is that of `SIGNET_PYTHON`, or `python3`; without the module the test is skipped.
@Suite(.timeLimit(.minutes(10))) struct PythonInteropTests {
  /// Writes a registration and an authentication for each algorithm and format, and verifies the signatures of ours.
  private static let program = """
    import base64, hashlib, json, os, struct, sys
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
    given = json.load(sys.stdin)
    b64 = lambda data: base64.urlsafe_b64encode(data).rstrip(b'=').decode()
    tlv = lambda tag, data: struct.pack('<HH', tag, len(data)) + data
    point = lambda key: key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    spki = lambda key: key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    pkcs1 = lambda key: key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
    def raw_rsa(key):
        numbers = key.public_numbers()
        return numbers.n.to_bytes(256, 'big') + numbers.e.to_bytes(3, 'big')
    def ecdsa(key, data, der):
        signature = key.sign(data, ec.ECDSA(hashes.SHA256()))
        if der: return signature
        r, s = utils.decode_dss_signature(signature)
        return r.to_bytes(32, 'big') + s.to_bytes(32, 'big')
    def sign_rsa(key, data, der, pad):
        signature = key.sign(data, pad, hashes.SHA256())
        return b'\\x04\\x82\\x01\\x00' + signature if der else signature
    pss = padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=32)
    rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    rsa_formats = [(0x0102, raw_rsa), (0x0103, spki), (0x0103, pkcs1)]
    ec_formats = [(0x0100, point), (0x0101, spki)]
    kinds = []
    for alg, curve in [(1, ec.SECP256R1()), (2, ec.SECP256R1()), (5, ec.SECP256K1()), (6, ec.SECP256K1())]:
        key = ec.generate_private_key(curve)
        kinds.append((alg, key, ec_formats, lambda data, key=key, der=alg % 2 == 0: ecdsa(key, data, der)))
    for alg, pad in [(3, pss), (4, pss), (8, padding.PKCS1v15()), (9, padding.PKCS1v15())]:
        der = alg in (4, 9)
        kinds.append((alg, rsa_key, rsa_formats, lambda data, der=der, pad=pad: sign_rsa(rsa_key, data, der, pad)))
    result = {'made': [], 'valid': []}
    for alg, key, formats, sign in kinds:
        for number, encode in formats:
            fc = b64(json.dumps({'appID': 'https://a.example', 'facetID': 'ios:bundle-id:a',
                'challenge': b64(os.urandom(32)), 'channelBinding': {}}, indent=1).encode())
            fc += '=' * (-len(fc) % 4)
            digest, key_id, aaid = hashlib.sha256(fc.encode()).digest(), os.urandom(32), b'0012#0001'
            krd = tlv(0x3E03, tlv(0x2E0A, digest) + tlv(0x2E0B, aaid)
                + tlv(0x2E0E, struct.pack('<HBHH', 3, 1, alg, number)) + tlv(0x2E09, key_id)
                + tlv(0x2E0D, struct.pack('<II', 7, 9)) + tlv(0x0999, b'skip') + tlv(0x2E0C, encode(key.public_key())))
            registration = tlv(0x3E01, tlv(0x3E08, tlv(0x2E06, sign(krd))) + krd)
            data = tlv(0x3E04, tlv(0x2E0B, aaid) + tlv(0x2E0E, struct.pack('<HBH', 3, 1, alg))
                + tlv(0x2E0F, os.urandom(32)) + tlv(0x2E0A, digest) + tlv(0x2E10, b'') + tlv(0x2E09, key_id)
                + tlv(0x2E0D, struct.pack('<I', 8)) + tlv(0x3E12, tlv(0x2E13, b'x') + tlv(0x2E14, b'y')))
            authentication = tlv(0x3E02, data + tlv(0x2E06, sign(data)))
            def message(op, assertion):
                return json.dumps([{'header': {'upv': {'major': 1, 'minor': 1}, 'op': op, 'appID': 'https://a.example'},
                    'fcParams': fc, 'assertions': [{'assertionScheme': 'UAFV1TLV', 'assertion': assertion, 'exts': []}]}])
            result['made'].append({'algorithm': alg, 'format': number, 'key': encode(key.public_key()).hex(),
                'registration': message('Reg', b64(registration)), 'authentication': message('Auth', b64(authentication) + '=' * (-len(b64(authentication)) % 4))})
    for item in given:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes.fromhex(item['key']))
        signature = bytes.fromhex(item['signature'])
        if item['algorithm'] == 1:
            signature = utils.encode_dss_signature(int.from_bytes(signature[:32], 'big'), int.from_bytes(signature[32:], 'big'))
        key.verify(signature, bytes.fromhex(item['signed']), ec.ECDSA(hashes.SHA256()))
        result['valid'].append(True)
    json.dump(result, sys.stdout)
    """

  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"] ?? "python3"

  private static func run(_ program: String, input: [UInt8]) throws -> (status: Int32, output: [UInt8]) {
    let result = try ChildCommand([python, "-c", program], input: .bytes(input)).finish()
    return (result.status, result.outputBytes)
  }

  static let isAvailable: Bool = {
    if ContinuousIntegration.isHere { return true }
    do {
      return try run("import cryptography", input: []).status == 0
    } catch {
      return false  // no such interpreter
    }
  }()

  @Test("every algorithm and key format, made by another implementation", .enabled(if: isAvailable))
  func everyAlgorithm() throws {
    var ours: [JSONValue] = []
    for isDER in [false, true] {
      var maker = MessageMaker(.registration)
      maker.key = UAFTestKey(isDER: isDER)
      let registration = try RegistrationAssertion(parsing: maker.registrationAssertion())
      let authentication = try AuthenticationAssertion(parsing: maker.authenticationAssertion())
      for (bytes, range, signature) in [
        (registration.bytes, registration.signedRange, registration.attestation.signature),
        (authentication.bytes, authentication.signedRange, authentication.signature),
      ] {
        ours.append([
          "algorithm": isDER ? 2 : 1,
          "key": .string(Hex.encode(maker.key.privateKey.publicKey.x963Representation)),
          "signed": .string(Hex.encode(Array(bytes[range]))), "signature": .string(Hex.encode(signature)),
        ])
      }
    }
    let (status, output) = try Self.run(Self.program, input: JSONValue.array(ours).bytes)
    try #require(status == 0)
    let result = try JSONObject(parsing: output, limits: JSONLimits(maximumByteCount: 1 << 20))
    #expect(try result.array("valid").count == ours.count)
    let made = try result.array("made")
    #expect(made.count == 4 * 2 + 4 * 3)
    for value in made {
      guard case .object(let item) = value else {
        Issue.record("no object")
        continue
      }
      let algorithm = UAFAlgorithm(rawValue: UInt16(try item.integer("algorithm")))
      let format = UAFKeyFormat(rawValue: UInt16(try item.integer("format")))
      let registration = try Inspection(response: try item.string("registration"))
      #expect(registration.objections == [], "\(algorithm)")
      guard case .registration(let assertion)? = registration.assertions.first?.content else {
        Issue.record("no assertion of a registration")
        continue
      }
      #expect(assertion.data.algorithm == algorithm && assertion.data.keyFormat == format)
      #expect(assertion.data.signCounter == 7 && assertion.data.registrationCounter == 9)
      let text = try item.string("authentication")
      for key in [
        InspectionKey(try Hex.decode(try item.string("key")), format: format),
        InspectionKey(try Hex.decode(try item.string("key"))),
      ] {
        #expect(try Inspection(response: text, key: key).objections == [], "\(algorithm) \(format)")
      }
      try flips(assertion)
    }
  }

  /// 22: a flipped bit of the signature, for every algorithm.
  private func flips(_ assertion: RegistrationAssertion) throws {
    let key = try UAFPublicKey(
      assertion.data.publicKey, format: assertion.data.keyFormat, for: assertion.data.algorithm)
    let signature = assertion.attestation.signature
    for index in [0, 1, 4, signature.count / 2, signature.count - 1] {
      var flipped = signature
      flipped[index] ^= 0x10
      #expect(
        !key.isValidSignature(
          flipped, assertion.data.algorithm, of: assertion.bytes, in: assertion.signedRange))
    }
  }
}
