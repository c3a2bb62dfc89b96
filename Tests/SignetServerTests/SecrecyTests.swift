import PostgreSQLFixture
import Foundation
import SignetConcurrency
import SignetCrypto
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetTesting
import SignetWire
import Testing

/// A whole story, after which no secret of it is in the log, in the audit log or in a file.
@Suite struct SecrecyTests {
  @Test func keepsSecretsOutOfEveryRecord() async throws {
    let server = try ServerFixture(on: .sqlite)
    let key = try await server.keys.create(name: "shop", scopes: [.admin], by: .local)
    let device = try await server.activate()
    let user = try UserID("alice")
    let asker = CodeService.Asker(.key(key.id), key: key.id, client: "192.0.2.77")
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
    let texts = [
      device.invite.inviteText, device.invite.typedForm, wrong.code.invite.inviteText,
      wrong.invite.inviteText, "192.0.2.77",
      secretHalf, Base64URL.encode(otp), Hex.encode(otp),
    ]
    let records = server.capture.lines + (try await server.audit())
    #expect(records.contains { $0.contains("transaction.added") } && !records.contains { $0.contains(text) })
    for text in texts { #expect(!records.contains { $0.contains(text) }) }
    // Six digits may be a part of any number or id: they are looked for as words.
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
        // The search can find something: the user's id is there in clear.
        #expect(data.range(of: Data("alice".utf8)) != nil)
      }
    }
  }

  @Test("what is sealed for one row does not open for another, nor under another key")
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
