import Foundation
import SignetCrypto
import SignetInterchange
import SignetOATH
import SignetTestKit
import Testing

/// Both directions with `Tests/Interop/accounts.py`, an independent implementation that reads PSKC with python-pskc.
@Suite(.timeLimit(.minutes(10))) struct AccountInteropTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop/accounts.py").standardized.path

  /// Indicates whether the tests run; without the interpreter and its modules they are skipped, but fail in CI.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    do {
      return try python.map { try run([$0, "-c", "import cryptography, pskc"], []).status == 0 } ?? false
    } catch { return false }
  }()

  private static func run(_ words: [String], _ input: [UInt8]) throws -> (status: Int32, output: [UInt8]) {
    let result = try ChildCommand(words, input: .bytes(input)).finish()
    if result.status != 0 { Issue.record("\(result.errorOutput)") }
    return (result.status, result.outputBytes)
  }

  private func call(_ words: [String], _ input: [UInt8]) throws -> [UInt8] {
    let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    return try Self.run([python, Self.script] + words, input).output
  }

  private func accounts(_ format: InterchangeFormat) throws -> [OTPAccount] {
    format == .google ? try SampleAccounts.common() : try SampleAccounts.rich()
  }

  static let cases: [(InterchangeFormat, String?)] =
    InterchangeFormat.allCases.map { ($0, nil) }
    + InterchangeFormat.allCases.filter(\.canBeEncrypted).map { ($0, "pass wörd") }

  @Test(
    "exports of the other implementation are imported",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"),
    arguments: cases)
  func readsTheirs(format: InterchangeFormat, password: String?) throws {
    let accounts = try accounts(format)
    let input = Array(try JSONEncoder().encode(accounts.facts))
    let bytes = try call(["write", format.rawValue] + (password.map { [$0] } ?? []), input)
    let imported = try AccountFile.read(bytes, password: password.map(SampleAccounts.box))
    #expect(imported.format == format && imported.skipped.isEmpty)
    #expect(imported.accounts.facts == accounts.facts)
  }

  @Test(
    "our exports are imported by the other implementation",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"),
    arguments: cases.filter { $0.0 != .raivo })
  func theyReadOurs(format: InterchangeFormat, password: String?) throws {
    let accounts = try accounts(format)
    let written = try AccountFile.write(accounts, as: format, password: password.map(SampleAccounts.box))
    let bytes = written.contents.withSecret { $0.insecureCopy() }
    let answer = try call(["read", format.rawValue] + (password.map { [$0] } ?? []), bytes)
    #expect(try JSONDecoder().decode([AccountFacts].self, from: Data(answer)) == accounts.facts)
  }

  @Test(
    "OCRA keys and check digits are exchanged in both directions",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"),
    arguments: [nil, "pass wörd"])
  func onlyPSKC(password: String?) throws {
    let accounts = try SampleAccounts.onlyPSKC()
    let words = password.map { [$0] } ?? []
    let theirs = try call(["write", "pskc"] + words, Array(try JSONEncoder().encode(accounts.facts)))
    let imported = try AccountFile.read(theirs, password: password.map(SampleAccounts.box))
    #expect(imported.skipped.isEmpty && imported.accounts.facts == accounts.facts)
    let ours = try AccountFile.write(accounts, as: .pskc, password: password.map(SampleAccounts.box))
    #expect(ours.skipped.isEmpty)
    let answer = try call(["read", "pskc"] + words, ours.contents.withSecret { $0.insecureCopy() })
    #expect(try JSONDecoder().decode([AccountFacts].self, from: Data(answer)) == accounts.facts)
  }

  @Test(
    "PSKC under a pre-shared key is exchanged in both directions",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"),
    arguments: [16, 32])
  func preSharedKey(byteCount: Int) throws {
    let bytes = SecureRandom.bytes(byteCount)
    let key = PSKCEncryptionKey.preShared(SharedSecretBox(SecretBytes(copying: bytes)))
    let accounts = try SampleAccounts.rich()
    let protection = "hex:\(Hex.encode(bytes))"
    let theirs = try call(["write", "pskc", protection], Array(try JSONEncoder().encode(accounts.facts)))
    let container = try PSKCContainer(parsing: theirs, key: key)
    #expect(try container.imported().accounts.facts == accounts.facts)
    #expect(container.keys.map(\.serialNumber) == (0..<5).map { "SN\($0)" })
    let ours = try PSKCContainer(keys: accounts.map { try PSKCKey($0) }).insecureBytes(encryptedUnder: key)
    let answer = try call(["read", "pskc", protection], ours)
    #expect(try JSONDecoder().decode([AccountFacts].self, from: Data(answer)) == accounts.facts)
  }
}
