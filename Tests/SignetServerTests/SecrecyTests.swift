import Foundation
import PostgreSQLFixture
import SignetCrypto
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import Testing

/// A complete use of the server; afterwards no secret is in the log, the audit log or a file.
@Suite(.timeLimit(.minutes(10))) struct SecrecyTests {
  @Test func keepsSecretsOutOfEveryRecord() async throws {
    let server = try ServerFixture(on: .sqlite)
    let key = try await server.keys.create(name: "shop", scopes: [.admin], by: .local)
    let device = try await server.activate()
    let user = UserID("alice")
    let asker = CodeService.Requester(.key(key.id), key: key.id, client: "192.0.2.77")
    let code = try device.code(at: server.clock.now)
    #expect(try await server.codes.validate(code, user: user, by: asker).value == .accepted)
    #expect(try await server.codes.validate(code, user: user, by: asker).value == .refused)
    #expect(try await server.codes.validate("918273", user: user, by: asker).value == .refused)
    let text = "Pay 4711.11 EUR to Carol"
    _ = try await server.transactions.create(text, user: user, lifetime: nil, by: .local)
    var wrong = ProtocolDevice(code: try await server.invite())
    wrong.invite = InviteCode(random: SystemRandomSource())
    #expect(try await problem { try await wrong.prove(server) } == .activationRefused)

    let otp = try #require(device.otpSecret).withSecret { secret in
      secret.withBytes { span in
        (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      }
    }
    let secretHalf = String(try #require(key.text.split(separator: "_", maxSplits: 2).last))
    let kept = try #require(try await server.storage.apiKey(key.id))
    #expect(kept.secretDigest == HashFunction.sha256.digest(of: Array(secretHalf.utf8)))
    let texts = [
      device.invite.inviteText, device.invite.typedForm, wrong.code.invite.inviteText,
      wrong.invite.inviteText, "192.0.2.77",
      secretHalf, Base64URL.encode(otp), Hex.encode(otp),
    ]
    let records = server.capture.lines + (try await server.audit())
    #expect(records.contains { $0.contains("transaction.added") } && !records.contains { $0.contains(text) })
    for text in texts { #expect(!records.contains { $0.contains(text) }) }
    // Six digits may be a part of any number or ID, so they are searched as words.
    let words = Set(records.flatMap { $0.split { !$0.isLetter && !$0.isNumber && !"-_".contains($0) } })
    let subject = try #require(try await server.context.storage.user("alice")).subject
    #expect(words.contains(subject.dropFirst()) && !words.contains("alice"))
    #expect(!words.contains(Substring(code)) && !words.contains("918273"))

    var needles = texts.map { Array($0.utf8) } + [otp]
    for invite in [device.invite, wrong.code.invite] {
      let activation = try #require(try await server.storage.openActivation(user: "alice"))
      let inviteKey = try invite.key(salt: activation.salt, costs: .minimum, by: .insecureForTests)
      needles.append(
        inviteKey.withBytes { span in
          (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        })
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: server.folder.path) {
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(server.folder.path)/\(name)"))
      for needle in needles { #expect(data.range(of: Data(needle)) == nil, "\(name)") }
      if name == "signet.sqlite-wal" {
        // The control of the search: the user's ID is stored in plain text.
        #expect(data.range(of: Data("alice".utf8)) != nil)
      }
    }
  }

  @Test("an end user's address is stored as a keyed digest for a day")
  func keepsADigestOfAddresses() async throws {
    var digests: [[UInt8]] = []
    for _ in 0..<2 {
      let server = try ServerFixture(on: .sqlite)
      _ = try await server.activate()
      let asker = CodeService.Requester(.local, client: "192.0.2.77")
      #expect(try await server.codes.validate("x", user: UserID("alice"), by: asker).value == .refused)
      let database = try Database(path: server.folder.file("signet.sqlite"), mode: .readWrite)
      func stored() throws -> [[UInt8]] {
        try database.query("SELECT client FROM waits").map { try $0.blob("client") }
      }
      digests += try stored()
      server.clock.advance(by: 86_399)
      try await server.context.sweep()
      #expect(try stored().count == 1)
      server.clock.advance(by: 1)
      try await server.context.sweep()
      #expect(try stored().isEmpty)
    }
    // One address has another digest under another key, and without a key neither can be computed.
    #expect(Set(digests).count == 2 && digests.allSatisfy { $0.count == 16 })
    for address in [Array("192.0.2.77".utf8), [192, 0, 2, 77]] {
      #expect(!digests.contains(Array(HashFunction.sha256.digest(of: address).prefix(16))))
    }
  }

  @Test("values are sealed by AES-256-GCM under a key for each row, derived from the master key by HKDF")
  func sealsAsDescribed() throws {
    let bytes = SecureRandom.bytes(MasterKey.byteCount)
    let key = MasterKey(SecretBytes(copying: bytes))
    let rows: [(MasterKey.Purpose, String)] = [
      (.inviteKey(activation: "r1"), "invite key"), (.otpSecret(credential: "r1"), "otp secret"),
      (.matchingNumber(transaction: "r1"), "matching number"), (.signingKey(id: "r1"), "signing key"),
      (.pushTarget(id: "r1"), "push target"), (.backchannelNotice(transaction: "r1"), "backchannel notice"),
      (.uafTarget(id: "r1"), "uaf target"), (.uafPayload(session: "r1"), "uaf payload"),
      (.pushAuthSecret(mechanism: "r1"), "pushauth secret"),
      (.pushAuthDevice(mechanism: "r1"), "pushauth device"),
      (.pushAuthNumber(message: "r1"), "pushauth number"), (.pushAuthToken(message: "r1"), "pushauth token"),
    ]
    for (purpose, name) in rows {
      let label = Array("signet \(name) r1".utf8)
      let rowKey = HKDF.derive(
        inputKey: SecretBytes(copying: bytes), salt: [], info: label, byteCount: 32, .sha256)
      let sealed = try key.seal(SecretBytes(copying: [1, 2, 3]), for: purpose)
      #expect(try AESGCM.openCombinedBytes(sealed, key: rowKey, additionalData: label) == [1, 2, 3])
    }
  }

  @Test("a value sealed for one row does not open for another row or key")
  func bindsSealedSecrets() throws {
    let (key, other) = (
      MasterKey(.random(byteCount: MasterKey.byteCount)), MasterKey(.random(byteCount: MasterKey.byteCount))
    )
    let sealed = try key.seal(SecretBytes(copying: [1, 2, 3]), for: .otpSecret(credential: "c1"))
    let opened = try key.open(sealed, for: .otpSecret(credential: "c1"))
    #expect(opened.byteCount == 3)
    for purpose in [
      MasterKey.Purpose.otpSecret(credential: "c2"), .inviteKey(activation: "c1"), .signingKey(id: "c1"),
    ] {
      #expect(throws: CryptoFailure.self) { _ = try key.open(sealed, for: purpose).byteCount }
    }
    #expect(throws: CryptoFailure.self) {
      _ = try other.open(sealed, for: .otpSecret(credential: "c1")).byteCount
    }
    var changed = sealed
    changed[changed.count - 1] ^= 1
    #expect(throws: CryptoFailure.self) {
      _ = try key.open(changed, for: .otpSecret(credential: "c1")).byteCount
    }
  }
}
