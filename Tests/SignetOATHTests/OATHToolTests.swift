import Foundation
import SignetCrypto
import SignetOATH
import SignetTestKit
import Testing

/// The command of the OATH Toolkit, an independent implementation.
enum OATHTool {
  static let path = ["/usr/bin/oathtool", "/usr/local/bin/oathtool", "/opt/homebrew/bin/oathtool"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  struct Failed: Error { let arguments: [String], status: Int32 }

  /// Returns its output line by line.
  static func run(_ arguments: [String]) async throws -> [String] {
    let path = try #require(path, "install oathtool")
    let result = try await ChildCommand([path] + arguments).finish()
    guard result.status == 0 else { throw Failed(arguments: arguments, status: result.status) }
    return result.output.split(separator: "\n").map(String.init)
  }
}

@Suite(
  "Against oathtool", .timeLimit(.minutes(10)),
  .enabled(if: OATHTool.path != nil || ContinuousIntegration.isHere, "needs oathtool"))
struct OATHToolTests {
  private static let seed = SeededRandom(test: "OATHToolTests").seed
  /// The seed in failure messages, to repeat the run.
  private static let again: Comment = "repeat with SIGNET_SEED=\(seed)"

  /// The random generator of one case.
  private static func random(_ parts: Int...) -> SplitMix64 {
    SplitMix64(seed: parts.reduce(seed) { $0 &* 1_000_003 &+ UInt64(truncatingIfNeeded: $1) })
  }

  private static func bytes(_ count: Int, _ random: inout SplitMix64) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Runs each case, two at a time for each processor.
  private static func each(of count: Int, _ body: @Sendable @escaping (Int) async throws -> Void) async throws
  {
    let width = 2 * ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<width {
        group.addTask { for number in stride(from: lane, to: count, by: width) { try await body(number) } }
      }
      try await group.waitForAll()
    }
  }

  @Test("HOTP: a thousand random secrets, counters and digits, 11 codes each")
  func hotp() async throws {
    try await Self.each(of: 1000) { number in
      var random = Self.random(number)
      let bytes = Self.bytes(Int.random(in: 1...80, using: &random), &random)
      let digits = 6 + number % 3
      let bits = UInt64.random(in: 1...62, using: &random)
      let counter = UInt64.random(in: 0...(1 << bits), using: &random)
      let theirs = try await OATHTool.run([
        "--hotp", "--digits=\(digits)", "--counter=\(counter)", "--window=10", Hex.encode(bytes),
      ])
      let hotp = try HOTP(secret: SecretBytes(copying: bytes), digits: digits)
      #expect(theirs == (counter...counter + 10).map { hotp.code(at: $0) }, Self.again)
    }
  }

  @Test(
    "TOTP: seven hundred random secrets, times, periods and starts for each hash function, 11 codes each",
    arguments: OATHAlgorithm.allCases.filter(\.isStandard))
  func totp(algorithm: OATHAlgorithm) async throws {
    try await Self.each(of: 700) { number in
      var random = Self.random(OATHAlgorithm.allCases.firstIndex(of: algorithm) ?? 0, number, 1)
      let bytes = Self.bytes(Int.random(in: 1...140, using: &random), &random)
      let digits = 6 + number % 3
      let period = Int.random(in: 1...3600, using: &random)
      let start = Int64.random(in: 0...1_000_000_000, using: &random)
      let time = start + Int64.random(in: 0...3_000_000_000, using: &random)
      let theirs = try await OATHTool.run([
        "--totp=\(algorithm.rawValue.lowercased())", "--digits=\(digits)", "--time-step-size=\(period)s",
        "--start-time=@\(start)", "--now=@\(time)", "--window=10", Hex.encode(bytes),
      ])
      let totp = try TOTP(
        secret: SecretBytes(copying: bytes), algorithm: algorithm, digits: digits, period: period,
        start: start)
      #expect(theirs == (try (0...10).map { try totp.code(at: time + $0 * Int64(period)).code }), Self.again)
    }
  }

  @Test("Base32 secrets", arguments: 1..<21)
  func base32(byteCount: Int) async throws {
    var random = Self.random(byteCount, 2)
    let text = Base32.encode(Self.bytes(byteCount, &random))
    let theirs = try await OATHTool.run(["--hotp", "--base32", "--counter=1", text])
    #expect(theirs == [try HOTP(secret: Base32.decodeSecret(text)).code(at: 1)], Self.again)
  }
}
