import Foundation
import SignetCrypto
import SignetOATH
import SignetPolicy
import SignetSQLite
import SignetTestKit
import SignetTesting
import SignetVault
import Testing

@Suite("Silent domains")
struct SilentTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let id: LocalContainerID
  private let key = P256.Signing.PrivateKey()
  private let otpSecret = SecureRandom.bytes(32)
  private static let pin = "271828"

  init() async throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
    id = try await vault.addContainer(.silent(pin: Self.pin, key, otpSecret))
    try await vault.confirmContainer(id)
  }

  private func opened(_ pin: String) async throws -> (P256.Signing.PrivateKey, otp: [UInt8]) {
    let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(pin)))
    let (isSilent, names) = (domain.isSilent, domain.recordNames)
    #expect(isSilent)
    #expect(names == ["otp", "signing"])
    let key = try domain.withRecord("signing") {
      try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: $0))
    }
    return (key, try domain.withRecord("otp") { SecretBytes(copying: $0).insecureCopy() })
  }

  /// The complete stored content of the vault.
  private func content() throws -> [[SQLiteValue]] {
    let raw = try fixture.rawDatabase()
    return try ["vault", "container", "slot", "record", "receipt", "part", "place", "generation"].flatMap {
      table in
      try raw.query("SELECT * FROM \(table)").map { row in (0..<row.count).map { row[$0] } }
    }
  }

  @Test("the correct PIN gives the stored keys")
  func rightPIN() async throws {
    for vault in [vault, try fixture.open()] {
      _ = vault
      let (key, otp) = try await opened(Self.pin)
      #expect(key.publicKey == self.key.publicKey)
      #expect(otp == otpSecret)
    }
  }

  /// 10,000 with `make kill-test`.
  private static let wrongPINCount = KillCount.wanted == nil ? 1_500 : 10_000

  @Test("wrong PINs give well-formed, different codes and signatures, indistinguishable from right ones")
  func wrongPINs() async throws {
    let before = try content()
    var secrets: Set<[UInt8]> = [otpSecret]
    var keys: Set<P256.Signing.PublicKey> = [key.publicKey]
    var signatures: Set<[UInt8]> = []
    var leading = [Int](repeating: 0, count: 10)
    let message = Array("Pay 250.00".utf8)
    let count = Self.wrongPINCount
    for number in 0..<count {
      let (key, otp) = try await opened("w\(number)")
      let signature = try key.signature(for: message)
      #expect(key.publicKey.isValidSignature(signature, for: message))
      if number % 100 == 0 { #expect(!self.key.publicKey.isValidSignature(signature, for: message)) }
      let code = try HOTP(secret: SecretBytes(copying: otp), digits: 6).code(at: 1)
      #expect(code.utf8.count == 6)
      leading[Int(code.prefix(1)) ?? 0] += 1
      secrets.insert(otp)
      keys.insert(key.publicKey)
      signatures.insert(signature.rawRepresentation)
    }
    #expect(secrets.count == count + 1)
    #expect(keys.count == count + 1)
    #expect(signatures.count == count)
    // Each digit a tenth of the time, within seven standard deviations.
    let (mean, deviation) = (Double(count) / 10, (Double(count) * 0.1 * 0.9).squareRoot())
    #expect(leading.allSatisfy { abs(Double($0) - mean) <= 7 * deviation }, "\(leading)")
    _ = try await opened(Self.pin)
    #expect(try content() == before, "no attempt, right or wrong, leaves a trace")
    #expect(try await vault.domains(of: id).map(\.attempts) == [.allowed(remaining: nil)])
    #expect(try await vault.domains(of: id).map(\.status) == [.unlocked])
  }

  @Test("lengths and forms of stored data do not depend on the secrets")
  func lengths() async throws {
    func lengths() throws -> Set<[Int]> {
      let rows = try fixture.rawDatabase().query("SELECT name, sealed FROM record ORDER BY name")
      return Set([
        try rows.map { try $0.blob("sealed").count }.sorted().reduce(into: []) {
          if !$0.contains($1) { $0.append($1) }
        }
      ])
    }
    let before = try lengths()
    for number in 0..<10 {
      _ = try await vault.addContainer(
        .silent(pin: "\(number)", P256.Signing.PrivateKey(), [UInt8](repeating: UInt8(number), count: 32)))
    }
    #expect(try lengths() == before)
  }

  @Test("operations that need to know whether the password was correct are refused without a change")
  func refusals() async throws {
    let before = try content()
    for pin in [Self.pin, "wrong"] {
      let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(pin)))
      await #expect(throws: VaultFailure.silentDomain("keys")) {
        try await vault.setRecord("otp", to: SecretBytes("x"), in: domain)
      }
      await #expect(throws: VaultFailure.silentDomain("keys")) {
        try await vault.enableBiometrics(for: domain, .simulated(fingers: 1))
      }
      await #expect(throws: VaultFailure.silentDomain("keys")) { try await vault.enablePasscode(for: domain) }
      await #expect(throws: VaultFailure.silentDomain("keys")) {
        _ = try await vault.makeRecoveryCode(for: domain)
      }
      await #expect(throws: VaultFailure.silentDomain("keys")) {
        try await vault.verifyPassword(SecretBytes(pin), of: "keys", in: id)
      }
      await #expect(throws: VaultFailure.silentDomain("keys")) {
        try await vault.changePassword(
          of: "keys", in: id, from: SecretBytes(pin), to: SecretBytes("new"), policy: .any)
      }
    }
    let demanding = try fixture.open(cost: .fixed(Argon2id(memoryKiB: 64, passes: 3, lanes: 1)))
    _ = try await demanding.open("keys", of: id, with: .password(SecretBytes(Self.pin)))
    #expect(
      try content() == before,
      "a higher cost is not taken over either: under a wrong PIN it would spoil the keys")
  }

  @Test("drafts that would reveal a correct password are refused")
  func drafts() async throws {
    func refused(_ record: RecordDraft) async {
      let draft = ContainerDraft(
        attributes: .sample(), created: 0,
        domains: [
          DomainDraft(name: "keys", protection: .password(SharedSecretBox("1"), .silent), records: [record])
        ])
      let failure = await #expect(throws: VaultFailure.self) { try await vault.addContainer(draft) }
      guard case .invalidDraft? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    for count in [0, 1_025] {
      await refused(RecordDraft(name: "r", secret: SharedSecretBox(.random(byteCount: count))))
    }
    for count in [31, 33] {
      await refused(
        RecordDraft(name: "r", secret: SharedSecretBox(.random(byteCount: count)), form: .p256PrivateKey))
    }
  }

  @Test("an external change is detected before the PIN is used", arguments: ["record", "slot"])
  func altered(_ table: String) async throws {
    let column = table == "record" ? "sealed" : "wrapped_key"
    let raw = try fixture.rawDatabase()
    let rows = try raw.query("SELECT rowid AS n, \(column) AS v FROM \(table) WHERE domain = 'keys'")
    for row in rows {
      let original = try row.blob("v")
      for index in original.indices {
        var changed = original
        changed[index] ^= 1
        try raw.execute("UPDATE \(table) SET \(column) = ? WHERE rowid = ?", .blob(changed), try row.number)
        for pin in [Self.pin, "wrong"] {
          let failure = await #expect(throws: VaultFailure.self) { _ = try await opened(pin) }
          guard case .altered? = failure else {
            Issue.record("\(table) \(index): \(String(describing: failure))")
            continue
          }
        }
      }
      try raw.execute("UPDATE \(table) SET \(column) = ? WHERE rowid = ?", .blob(original), try row.number)
    }
    #expect(try await opened(Self.pin).otp == otpSecret)
  }
}

extension Row {
  fileprivate var number: SQLiteValue { get throws { .integer(try integer("n")) } }
}

extension ContainerDraft {
  /// A domain `keys` with a signing key and a one-time code secret under a silent lock.
  static func silent(pin: String, _ key: P256.Signing.PrivateKey, _ otpSecret: [UInt8]) -> Self {
    ContainerDraft(
      attributes: .sample(), created: 1_000,
      domains: [
        DomainDraft(
          name: "keys", protection: .password(SharedSecretBox(pin), .silent),
          records: [
            RecordDraft(
              name: "signing", secret: SharedSecretBox(key.rawRepresentation), form: .p256PrivateKey),
            RecordDraft(name: "otp", secret: SharedSecretBox(SecretBytes(copying: otpSecret))),
          ])
      ])
  }
}
