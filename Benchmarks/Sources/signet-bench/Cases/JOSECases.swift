import BenchReport
import SignetCrypto
import SignetJOSE
import SignetJSON

extension Bench {
  /// ES256 verification and ECDH-ES decryption of 256 bytes, from the compact form, compared with OpenSSL and other libraries.
  func jose(_ report: inout Report) async throws {
    let subjects = try JOSESubjects()
    let peers = try peers(["cjose", "joserfc"], &report)
    for peer in peers { try subjects.hand(to: peer) }
    try verification(subjects, peers, &report)
    try decryption(subjects, peers, &report)
    try parts(subjects, &report)
  }

  private func verification(_ subjects: JOSESubjects, _ peers: [Peer], _ report: inout Report) throws {
    let raw = try subjects.rawVerification()
    let (compact, key) = (subjects.jws, subjects.verificationKey)
    let algorithms: Set<SignatureAlgorithm> = [.es256]
    let outcomes = try race.run(
      [
        Race.Contender("JWS ES256 verify") {
          keep(try JWS(compact: compact).verified(with: key, allowing: algorithms).payload)
        },
        Race.Contender("OpenSSL SHA-256 + EVP_PKEY_verify, key kept") { try raw.run() },
      ] + peers.map { $0.contender("verify") })
    report.add(rows("ES256 verify", outcomes, rawGoal: [0.9]))
  }

  private func decryption(_ subjects: JOSESubjects, _ peers: [Peer], _ report: inout Report) throws {
    let raw = try subjects.rawDecryption()
    let (compact, key) = (subjects.jwe, subjects.decryptionKey)
    let keyAlgorithms: Set<KeyManagementAlgorithm> = [.ecdhES]
    let contentAlgorithms: Set<ContentEncryptionAlgorithm> = [.a256GCM]
    let outcomes = try race.run(
      [
        Race.Contender("JWE ECDH-ES decrypt") {
          keep(
            try JWE(compact: compact).decrypted(with: key, allowing: keyAlgorithms, contentAlgorithms)
              .plaintext)
        },
        Race.Contender("OpenSSL point decoding + ECDH") { try raw.agree() },
        Race.Contender("OpenSSL point decoding + ECDH + SHA-256 + AES-256-GCM") { try raw.run() },
      ] + peers.map { $0.contender("decrypt") })
    report.add(rows("ECDH-ES decrypt", outcomes, rawGoal: [0.9, 0.9]))
  }

  /// Makes a row for each comparison: first with the raw operations, then with the peers, which must be slower.
  private func rows(_ name: String, _ outcomes: [Race.Outcome], rawGoal: [Double]) -> [ReportRow] {
    outcomes.dropFirst().enumerated().map { index, other in
      ReportRow(
        name: "\(name), beside \(other.name)", value: outcomes[0].rate, unit: "op/s",
        comparedWith: other.described(),
        ratio: outcomes[0].ratio(to: other),
        goal: index < rawGoal.count ? .ratioAtLeast(rawGoal[index]) : .ahead)
    }
  }

  /// The cost of the encodings, to explain the other rows.
  private func parts(_ subjects: JOSESubjects, _ report: inout Report) throws {
    let text = Array(Base64URL.encode([UInt8](repeating: 0x5A, count: 768)).utf8)
    let header = try subjects.jweHeader
    let outcomes = try race.run([
      Race.Contender("decode") { keep(try Base64URL.decode(text)) },
      Race.Contender("header") { keep(try JSONObject(parsing: header)) },
    ])
    report.add([
      ReportRow(
        name: "base64url decode", value: Samples(outcomes[0].rounds).median / Double(text.count),
        unit: "ns/character"),
      ReportRow(
        name: "JSON parse of a JWE header", value: Samples(outcomes[1].rounds).median / 1e3, unit: "us",
        notes: "\(header.count) bytes"),
    ])
  }
}

/// The keys and messages that all contenders share.
private struct JOSESubjects {
  private static let payload = [UInt8](repeating: 0x78, count: 256)

  private let signingKey = P256.Signing.PrivateKey()
  private let agreementKey = P256.KeyAgreement.PrivateKey()
  let jws: String
  let jwe: String

  init() throws {
    jws = try JWS.sign(Self.payload, with: SigningKey(signingKey))
    jwe = try JWE.encrypt(Self.payload, for: EncryptionKey(agreementKey.publicKey))
  }

  var verificationKey: VerificationKey { VerificationKey(signingKey.publicKey) }
  var decryptionKey: DecryptionKey { DecryptionKey(agreementKey) }
  var jweHeader: [UInt8] {
    get throws { try Base64URL.decode(String(jwe.prefix { $0 != "." })) }
  }

  /// Passes the same keys and messages to a peer.
  func hand(to peer: Peer) throws {
    try peer.set("signing-key", jwk(signingKey.publicKey.x963Representation, signingKey.rawRepresentation))
    try peer.set(
      "agreement-key", jwk(agreementKey.publicKey.x963Representation, agreementKey.rawRepresentation))
    try peer.set("jws", jws)
    try peer.set("jwe", jwe)
  }

  private func jwk(_ point: [UInt8], _ scalar: borrowing SecretBytes) -> String {
    let jwk: JSONObject = [
      "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(Array(point[1...32]))),
      "y": .string(Base64URL.encode(Array(point[33...64]))), "d": .string(Base64URL.insecureEncode(scalar)),
    ]
    return jwk.text
  }

  func rawVerification() throws -> RawVerification {
    let parts = jws.split(separator: ".")
    let signature = try ECDSASignature(rawRepresentation: Base64URL.decode(String(parts[2])))
    return try RawVerification(
      point: signingKey.publicKey.x963Representation, signature: signature.derRepresentation,
      message: Array("\(parts[0]).\(parts[1])".utf8))
  }

  func rawDecryption() throws -> RawDecryption {
    try RawDecryption(
      plaintextByteCount: Self.payload.count, additionalDataByteCount: jwe.prefix { $0 != "." }.utf8.count)
  }
}
