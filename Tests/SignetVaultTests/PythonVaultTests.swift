import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTestKit
import SignetVault
import Testing

/// `Tests/Interop/vault.py`, written from `docs/vault-format.md` alone, opens stored vaults.
@Suite(.timeLimit(.minutes(10))) struct PythonVaultTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop/vault.py").standardized.path

  /// Indicates whether the tests run; without the interpreter and its modules they are skipped, but fail in CI.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    do {
      return try python.map { try run($0, ["-c", "import argon2.low_level, cryptography"]).status == 0 }
        ?? false
    } catch { return false }
  }()

  private static func run(
    _ program: String, _ words: [String], input: String = ""
  ) throws -> (status: Int32, output: String) {
    let result = try ChildCommand([program] + words, input: .bytes(Array(input.utf8))).finish()
    return (result.status, result.output + result.errorOutput)
  }

  private func vault(_ folder: String, _ words: String..., password: String = "") throws -> String {
    let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    let result = try Self.run(python, [Self.script, folder] + words, input: password)
    return result.output
  }

  private func records(_ answer: String) throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(answer.utf8))
  }

  private static func hex(_ text: String) -> String { Hex.encode(Array(text.utf8)) }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func aReaderFromThePageAloneWorks() async throws {
    let fixture = try VaultFixture()
    let writer = try fixture.open()
    let id = try await writer.addContainer(.sample(lock: .fiveAttempts))
    try await writer.confirmContainer(id)
    await #expect(throws: VaultFailure.wrongPassword(remaining: 4)) {
      try await writer.signingKey(of: id, "no")
    }
    let domain = try await writer.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    _ = try await writer.makeRecoveryCode(for: domain)
    let policy = try PasswordPolicy(
      minimumLength: 1, maximumLength: 64, allowsSequences: true, maximumHistory: 2)
    try await writer.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("caf\u{E9} \u{212B}"),
      policy: policy)
    let key = P256.Signing.PrivateKey()
    let silent = try await writer.addContainer(.silent(pin: "271828", key, Array(repeating: 7, count: 32)))

    let list = try vault(fixture.directory)
    for part in [
      id.description, "alice", "login.example.org/bank", "recovery", "coolDown", "\"active\": true", "silent",
    ] {
      #expect(list.contains(part), "\(part): \(list)")
    }
    let session = try records(vault(fixture.directory, id.description, "session"))
    #expect(session["key"] == Self.hex("session key"))
    let keys = try records(
      vault(fixture.directory, id.description, "keys", password: "cafe\u{301}\u{A0}\u{C5}"))
    #expect(keys["signing"] == Self.hex("signing key"))
    #expect(keys[" history"]?.count == 2 * (30 + 32))
    #expect(
      try vault(fixture.directory, id.description, "keys", password: "no").contains("the password is wrong"))
    let right = try records(vault(fixture.directory, silent.description, "keys", password: "271828"))
    #expect(right["signing"] == Hex.encode(key.rawRepresentation.insecureCopy()))
    #expect(right["otp"] == String(repeating: "07", count: 32))
    let wrong = try records(vault(fixture.directory, silent.description, "keys", password: "271829"))
    #expect(wrong["signing"]?.count == 64 && wrong["signing"] != right["signing"])

    // A record that was valid earlier.
    let raw = try fixture.rawDatabase()
    let older = try #require(
      try raw.query("SELECT sealed FROM record WHERE name = 'counter' AND domain = 'session'").first)
    let open = try await writer.open("session", of: id, with: .device)
    _ = try await writer.advanceCounter("counter", in: open)
    try raw.execute(
      "UPDATE record SET sealed = ? WHERE name = 'counter' AND domain = 'session'", [older[0]])
    #expect(try vault(fixture.directory, id.description, "session").contains("not what was stored"))
    try raw.execute("UPDATE slot SET failed = 1 WHERE kind = 2")
    #expect(try vault(fixture.directory).contains("was altered"))
  }

  @Test(
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"),
    arguments: [("version1", VaultFixture.password), ("version2", "correct horse 2")])
  func earlierVersion(_ version: String, _ password: String) async throws {
    let made = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(version)")
      .path
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: made, toPath: folder.file("vault"))
    let list = try vault(folder.file("vault"))
    let id = try #require(list.components(separatedBy: "\"id\": \"").last?.prefix(32))
    let keys = try records(vault(folder.file("vault"), String(id), "keys", password: password))
    #expect(keys["signing"] == Self.hex("signing key"))
  }
}
