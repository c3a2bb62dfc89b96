import Foundation
import SignetCrypto
import SignetOATH
import SignetTesting
import Testing

/// The command of the OATH Toolkit, which shares no code with us.
enum OATHTool {
  static let path = ["/usr/bin/oathtool", "/usr/local/bin/oathtool", "/opt/homebrew/bin/oathtool"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// What it prints, line by line.
  static func run(_ arguments: [String]) throws -> [String] {
    let process = Process()
    process.executableURL = URL(filePath: try #require(path, "install oathtool"))
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

@Suite(
  "Against oathtool",
  .enabled(if: OATHTool.path != nil || ContinuousIntegration.isHere, "needs oathtool"))
struct OATHToolTests {
  /// The number in the environment's `SIGNET_OATH_SEED`, or a fresh one.
  private static let seed =
    ProcessInfo.processInfo.environment["SIGNET_OATH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
  /// What a failure says, so that it can be seen again.
  private static let again: Comment = "repeat with SIGNET_OATH_SEED=\(seed)"

  /// Random numbers of one case.
  private static func random(_ parts: Int...) -> SplitMix64 {
    SplitMix64(seed: parts.reduce(seed) { $0 &* 1_000_003 &+ UInt64(truncatingIfNeeded: $1) })
  }

  private static func bytes(_ count: Int, _ random: inout SplitMix64) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test("HOTP: random secrets, counters and digits, 200 codes each", arguments: 0..<20)
  func hotp(run: Int) throws {
    var random = Self.random(run)
    let bytes = Self.bytes(Int.random(in: 1...80, using: &random), &random)
    let digits = Int.random(in: 6...8, using: &random)
    let bits = UInt64.random(in: 1...62, using: &random)
    let counter = UInt64.random(in: 0...(1 << bits), using: &random)
    let theirs = try OATHTool.run([
      "--hotp", "--digits=\(digits)", "--counter=\(counter)", "--window=199", Hex.encode(bytes),
    ])
    let hotp = try HOTP(secret: SecretBytes(copying: bytes), digits: digits)
    #expect(theirs == (counter..<counter + 200).map { hotp.code(at: $0) }, Self.again)
  }

  @Test(
    "TOTP: random secrets, times, periods and starts, 200 codes each",
    arguments: OATHAlgorithm.allCases, 0..<8)
  func totp(algorithm: OATHAlgorithm, run: Int) throws {
    var random = Self.random(OATHAlgorithm.allCases.firstIndex(of: algorithm) ?? 0, run, 1)
    let bytes = Self.bytes(Int.random(in: 1...140, using: &random), &random)
    let digits = Int.random(in: 6...8, using: &random)
    let period = Int.random(in: 1...3600, using: &random)
    let start = Int64.random(in: 0...1_000_000_000, using: &random)
    let time = start + Int64.random(in: 0...3_000_000_000, using: &random)
    let theirs = try OATHTool.run([
      "--totp=\(algorithm.rawValue.lowercased())", "--digits=\(digits)", "--time-step-size=\(period)s",
      "--start-time=@\(start)", "--now=@\(time)", "--window=199", Hex.encode(bytes),
    ])
    let totp = try TOTP(
      secret: SecretBytes(copying: bytes), algorithm: algorithm, digits: digits, period: period, start: start)
    #expect(theirs == (try (0..<200).map { try totp.code(at: time + $0 * Int64(period)).code }), Self.again)
  }

  @Test("Base32 secrets", arguments: 1..<21)
  func base32(byteCount: Int) throws {
    var random = Self.random(byteCount, 2)
    let text = Base32.encode(Self.bytes(byteCount, &random))
    let theirs = try OATHTool.run(["--hotp", "--base32", "--counter=1", text])
    #expect(theirs == [try HOTP(secret: Base32.decodeSecret(text)).code(at: 1)], Self.again)
  }
}
