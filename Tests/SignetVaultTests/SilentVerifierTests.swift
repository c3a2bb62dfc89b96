// The attacker has all files and the hardware secret, knows the format, and may try anything. This needs the module's internals.
import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTestKit
import Testing
import SignetVault

/// An attacker with all stored data and the hardware secret.
private struct Attacker {
  let domainID: DomainID
  let header: SlotHeader
  let hardwareSecret: SharedSecretBox
  let wrappedKey: [UInt8]
  /// The sealed records by name.
  let records: [(name: String, sealed: [UInt8])]
  /// Every value of every row, and its content under the hardware secret.
  let blobs: [[UInt8]]
  let files: Data

  init(_ fixture: VaultFixture, _ id: LocalContainerID) throws {
    let raw = try fixture.rawDatabase()
    try raw.checkpoint()
    let row = try #require(try raw.query("SELECT * FROM slot WHERE domain = 'keys'").first)
    header = try SlotHeader(parsing: try row.blob("header"), floor: VaultFixture.weak)
    domainID = header.domainID
    wrappedKey = try row.blob("wrapped_key")
    let keystore = SoftwareKeystore(directory: fixture.directory)
    let secret = try keystore.unseal(
      try row.blob("sealed_secret"), context: domainID.hardwareContext(.password))
    hardwareSecret = SharedSecretBox(secret)
    records = try raw.query("SELECT name, sealed FROM record WHERE domain = 'keys'").map {
      (try $0.text("name"), try $0.blob("sealed"))
    }
    var blobs: [[UInt8]] = []
    for table in ["vault", "container", "slot", "record"] {
      for row in try raw.query("SELECT * FROM \(table)") {
        for index in 0..<row.count {
          switch row[index] {
          case .blob(let bytes): blobs.append(bytes)
          case .text(let text): blobs.append(Array(text.utf8))
          default: break
          }
        }
      }
    }
    self.blobs = blobs
    files = try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath))
  }

  private func derived(_ info: String, salt: [UInt8]) -> SecretBytes {
    hardwareSecret.withSecret {
      HKDF.derive(inputKey: $0, salt: salt, info: Array(info.utf8), byteCount: 32, .sha256)
    }
  }

  /// Returns the inside of a layer that the hardware secret opens; `nil` if it does not.
  private func inner(_ sealed: [UInt8], _ key: borrowing SecretBytes, _ context: [UInt8]) -> [UInt8]? {
    // A value without room for a nonce and a tag opens under no key; each throw takes long, since tests record the origin of
    // errors.
    guard sealed.count >= 28 else { return nil }
    do { return try AESGCM.openCombinedBytes(sealed, key: key, additionalData: context) } catch { return nil }
  }

  private func xor(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] { zip(a, b).map { $0 ^ $1 } }

  /// All observations about a PIN without the server, with their outcomes by name.
  func observations(_ pin: String) throws -> [String: Bool] {
    let slow = try PasswordDerivation.argon2id.derive(SecretBytes(pin), header.salt, VaultFixture.weak)
    let extracted = hardwareSecret.withSecret { HKDF.extract(salt: $0, inputKey: slow, .sha256) }
    let info = Array("signet slot key v1".utf8) + HashFunction.sha256.digest(of: header.bytes)
    let wrapping = HKDF.expand(extracted, info: info, byteCount: 32, .sha256).insecureCopy()
    var values = [
      "derived": slow.insecureCopy(), "extracted": extracted.insecureCopy(), "wrapping": wrapping,
      "authorization": ProtectionSlot.authorization(SharedSecretBox(slow)).insecureCopy(),
    ]
    var opened = blobs
    var outcomes: [String: Bool] = [:]
    var masterKey = inner(wrappedKey, SecretBytes(copying: wrapping), header.bytes)
    outcomes["the master key opens under the wrapping key"] = masterKey != nil
    if let hidden = inner(wrappedKey, derived("signet silent slot v1", salt: header.salt), header.bytes) {
      opened.append(hidden)
      masterKey = xor(hidden, wrapping)
    }
    if let masterKey {
      values["master key"] = masterKey
      let recordKey = derived("signet silent record v1", salt: domainID.vault.bytes)
      for (name, sealed) in records {
        guard let inner = inner(sealed, recordKey, domainID.recordContext(name)) else { continue }
        opened.append(inner)
        var context = CanonicalBytes("signet silent keystream v1")
        context.append(Array(inner[1..<17]))
        context.append(domainID.recordContext(name))
        let hidden = Array(inner[17...])
        let keystream = HKDF.expand(
          SecretBytes(copying: masterKey), info: context.bytes, byteCount: hidden.count, .sha256)
        let plain = xor(hidden, keystream.insecureCopy())
        values[name] = plain
        outcomes["\(name) has the length of a seed"] = plain.count == 48
        if plain.count == 48 {
          let key = try P256.Signing.PrivateKey(seed: SecretBytes(copying: plain))
          values["scalar"] = key.rawRepresentation.insecureCopy()
          values["x"] = key.publicKey.x
          values["y"] = key.publicKey.y
          values["thumbprint"] = HashFunction.sha256.digest(of: key.publicKey.x + key.publicKey.y)
        }
      }
    }
    for (name, value) in values {
      values["SHA-256 of \(name)"] = HashFunction.sha256.digest(of: value)
      let mac = hardwareSecret.withSecret { HMACKey($0, .sha256).authenticationCode(for: value) }
      values["HMAC of \(name)"] = mac
    }
    let contexts =
      [[], header.bytes] + records.map { domainID.recordContext($0.name) }
      + [domainID.recordContext(PasswordHistory.recordName)] + SlotKind.allCases.map(domainID.hardwareContext)
    for (name, value) in values {
      outcomes["\(name) is in the files"] = files.range(of: Data(value.prefix(8))) != nil
      let key = SecretBytes(copying: Array((value + value).prefix(32)))
      outcomes["\(name) opens something"] = opened.contains { blob in
        contexts.contains { inner(blob, key, $0) != nil }
      }
    }
    return outcomes
  }
}

@Suite("No verifier of a silent domain, even with the hardware secret")
struct SilentVerifierTests {
  private static let pin = "271828"

  private func attacker(_ lock: LockPolicy) async throws -> Attacker {
    let fixture = try VaultFixture()
    let vault = try fixture.open()
    var draft = ContainerDraft.silent(pin: Self.pin, P256.Signing.PrivateKey(), SecureRandom.bytes(32))
    guard case .password(let box, _) = draft.domains[0].protection else { preconditionFailure("a password") }
    draft.domains[0].protection = .password(box, lock)
    let id = try await vault.addContainer(draft)
    try await vault.confirmContainer(id)
    _ = try await vault.open("keys", of: id, with: .password(SecretBytes(Self.pin)))
    for number in 0..<3 {
      do { _ = try await vault.open("keys", of: id, with: .password(SecretBytes("no \(number)"))) } catch {}
    }
    return try Attacker(fixture, id)
  }

  @Test("every computable check gives the same result for correct and wrong PINs")
  func noVerifier() async throws {
    let attacker = try await attacker(.silent)
    let right = try attacker.observations(Self.pin)
    #expect(right.count > 40)
    #expect(right["signing has the length of a seed"] == true, "the attacker gets as far as the keys")
    #expect(right["the master key opens under the wrapping key"] == false)
    // The observations of two PINs differ only by chance; `make kill-test` tries more.
    for number in 0..<(KillCount.wanted == nil ? 15 : 60) {
      let wrong = try attacker.observations("\(100_000 + number)")
      #expect(wrong == right, "\(wrong.filter { right[$0.key] != $0.value })")
    }
  }

  @Test(
    "control: the same attacker finds the right PIN of a domain with another lock"
  )
  func control() async throws {
    let attacker = try await attacker(.lock(limit: 5))
    let right = try attacker.observations(Self.pin)
    let wrong = try attacker.observations("100000")
    #expect(right != wrong)
    #expect(right["wrapping opens something"] == true)
    #expect(right["master key opens something"] == true)
    #expect(wrong["wrapping opens something"] == false)
  }
}
