import Foundation
import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetTestKit
import Testing

/// Both directions with jwcrypto (https://pypi.org/project/jwcrypto/), an independent implementation.
///
/// The interpreter is that of `SIGNET_PYTHON`, or `python3`; without the module the test is skipped.
@Suite(.timeLimit(.minutes(10))) struct InteropTests {
  /// Reads our objects, makes the same kinds of objects with new keys, and writes both as JSON.
  private static let program = """
    import json, sys
    from jwcrypto import jwk, jws, jwe
    from jwcrypto.common import base64url_encode as b64, json_encode
    given = json.load(sys.stdin)
    signing = ['ES256', 'ES256K', 'HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
    key = jwk.JWK(**given['key'])
    result = {'read': [], 'signed': [], 'encrypted': [], 'thumbprint': key.thumbprint()}
    for item in given['signed']:
        token = jws.JWS(); token.allowed_algs = signing
        token.deserialize(item['text'], jwk.JWK(**item['key']))
        result['read'].append(b64(token.payload))
    for item in given['encrypted']:
        token = jwe.JWE(); token.deserialize(item['text'], jwk.JWK(**item['key']))
        result['read'].append(b64(token.payload))
    rsa = jwk.JWK.generate(kty='RSA', size=2048, kid='r')
    for alg in signing:
        if alg == 'ES256': mine = key
        elif alg == 'ES256K': mine = jwk.JWK.generate(kty='EC', crv='secp256k1', kid='e')
        elif alg[0] == 'H': mine = jwk.JWK.generate(kty='oct', size=int(alg[2:]), kid='h')
        else: mine = rsa
        token = jws.JWS('from python'.encode()); token.allowed_algs = signing
        token.add_signature(mine, alg, json_encode({'alg': alg, 'kid': 'x'}), None)
        public = mine.export_symmetric(True) if alg[0] == 'H' else mine.export_public(True)
        result['signed'].append({'alg': alg, 'key': public, 'text': token.serialize(True)})
    for item in given['encrypted']:
        token = jwe.JWE('from python'.encode(), json_encode(item['header']))
        token.add_recipient(jwk.JWK(**item['key']))
        result['encrypted'].append(token.serialize(True))
    json.dump(result, sys.stdout)
    """

  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"] ?? "python3"

  private static func run(_ arguments: [String], input: [UInt8]) throws -> (status: Int32, output: [UInt8]) {
    let result = try ChildCommand([python] + arguments, input: .bytes(input)).finish()
    return (result.status, result.outputBytes)
  }

  /// Indicates whether the tests run; without the interpreter and its module they are skipped, but fail in CI.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    do {
      return try run(["-c", "import jwcrypto"], input: []).status == 0
    } catch {
      return false  // no such interpreter
    }
  }()

  private struct Case {
    let keyAlgorithm: KeyManagementAlgorithm
    let contentAlgorithm: ContentEncryptionAlgorithm
    let key: JSONObject
  }

  /// Every pair of algorithms with a matching key.
  private static func cases(_ ec: JSONObject) -> [Case] {
    KeyManagementAlgorithm.allCases.flatMap { keyAlgorithm in
      ContentEncryptionAlgorithm.allCases.map { contentAlgorithm in
        let byteCount =
          switch keyAlgorithm {
          case .direct: contentAlgorithm.keyByteCount
          case .a128KW: 16
          case .a192KW: 24
          default: 32
          }
        let agrees = keyAlgorithm.rawValue.hasPrefix("ECDH")
        let oct: JSONObject = ["kty": "oct", "k": .string(Base64URL.encode(SecureRandom.bytes(byteCount)))]
        return Case(keyAlgorithm: keyAlgorithm, contentAlgorithm: contentAlgorithm, key: agrees ? ec : oct)
      }
    }
  }

  /// A private P-256 JWK, which only a test exports.
  private static func privateObject() throws -> JSONObject {
    let key = P256.Signing.PrivateKey()
    var object = try JWK(parsing: JWK(key.publicKey).publicObject().bytes).publicObject()
    object["use"] = nil
    object["alg"] = nil
    object["d"] = .string(Base64URL.insecureEncode(key.rawRepresentation))
    return object
  }

  @Test("jwcrypto reads what we write, and we read what it writes", .enabled(if: isWanted, "needs jwcrypto"))
  func bothWays() throws {
    let key = try Self.privateObject()
    let secret: JSONObject = ["kty": "oct", "k": .string(Base64URL.encode(SecureRandom.bytes(64)))]
    let payload = Array("from swift, é".utf8)
    let cases = Self.cases(key)
    var signed: [JSONValue] = []
    for (object, algorithm) in [(key, nil), (secret, "HS256"), (secret, "HS384"), (secret, "HS512")] {
      var named = object
      if let algorithm { named["alg"] = .string(algorithm) }
      let text = try JWS.sign(payload, with: SigningKey(JWK(named)), type: "JWT")
      signed.append(["key": .object(named), "text": .string(text)])
    }
    let encrypted: [JSONValue] = try cases.map { item in
      let text = try JWE.encrypt(
        payload, for: EncryptionKey(JWK(item.key)), item.keyAlgorithm, item.contentAlgorithm)
      let header: JSONValue = [
        "alg": .string(item.keyAlgorithm.rawValue), "enc": .string(item.contentAlgorithm.rawValue),
      ]
      return ["key": .object(item.key), "text": .string(text), "header": header]
    }
    let request: JSONValue = [
      "key": .object(key), "signed": .array(signed), "encrypted": .array(encrypted),
    ]
    let answer = try Self.run(["-c", Self.program], input: request.bytes)
    #expect(answer.status == 0)
    let result = try JSONObject(parsing: answer.output)

    let read = try result.strings("read")
    #expect(read.count == signed.count + encrypted.count)
    #expect(read.allSatisfy { $0 == Base64URL.encode(payload) })
    #expect(try result.bytes("thumbprint") == JWK(key).thumbprint)
    try checkSignatures(of: result)
    try checkCiphertexts(of: result, cases)
  }

  private func checkSignatures(of result: JSONObject) throws {
    let signed = try result.array("signed")
    #expect(signed.count == SignatureAlgorithm.allCases.count)
    for case .object(let item) in signed {
      let algorithm = try #require(SignatureAlgorithm(rawValue: item.string("alg")))
      let key = try VerificationKey(JWK(item.object("key")))
      let verified = try JWS(compact: item.string("text")).verified(with: key, allowing: [algorithm])
      #expect(verified.payload == Array("from python".utf8), "\(algorithm)")
    }
  }

  private func checkCiphertexts(of result: JSONObject, _ cases: [Case]) throws {
    let encrypted = try result.strings("encrypted")
    #expect(encrypted.count == cases.count)
    for (text, item) in zip(encrypted, cases) {
      let opened = try JWE(compact: text).decrypted(
        with: DecryptionKey(JWK(item.key)), allowing: [item.keyAlgorithm], [item.contentAlgorithm])
      #expect(opened.plaintext == Array("from python".utf8), "\(item.keyAlgorithm) \(item.contentAlgorithm)")
    }
  }
}
