import Foundation
import SignetCrypto
import SignetOATH
import Testing

/// The command of the OATH Toolkit, which shares no code with us.
enum OATHTool {
  static let path = ["/usr/bin/oathtool", "/usr/local/bin/oathtool", "/opt/homebrew/bin/oathtool"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Where it must not be missing.
  static let isContinuousIntegration = ProcessInfo.processInfo.environment["CI"] == "true"

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
  .enabled(if: OATHTool.path != nil || OATHTool.isContinuousIntegration, "needs oathtool"))
struct OATHToolTests {
  @Test("HOTP: random secrets, counters and digits, 200 codes each", arguments: 0..<20)
  func hotp(run: Int) throws {
    let bytes = SecureRandom.bytes(Int.random(in: 1...80))
    let digits = Int.random(in: 6...8)
    let counter = UInt64.random(in: 0...(1 << UInt64.random(in: 1...62)))
    let theirs = try OATHTool.run([
      "--hotp", "--digits=\(digits)", "--counter=\(counter)", "--window=199", Hex.encode(bytes),
    ])
    let hotp = try HOTP(secret: SecretBytes(copying: bytes), digits: digits)
    #expect(theirs == (counter..<counter + 200).map { hotp.code(at: $0) })
  }

  @Test(
    "TOTP: random secrets, times, periods and starts, 200 codes each",
    arguments: OATHAlgorithm.allCases, 0..<8)
  func totp(algorithm: OATHAlgorithm, run: Int) throws {
    let bytes = SecureRandom.bytes(Int.random(in: 1...140))
    let digits = Int.random(in: 6...8)
    let period = Int.random(in: 1...3600)
    let start = Int64.random(in: 0...1_000_000_000)
    let time = start + Int64.random(in: 0...3_000_000_000)
    let theirs = try OATHTool.run([
      "--totp=\(algorithm.rawValue.lowercased())", "--digits=\(digits)", "--time-step-size=\(period)s",
      "--start-time=@\(start)", "--now=@\(time)", "--window=199", Hex.encode(bytes),
    ])
    let totp = try TOTP(
      secret: SecretBytes(copying: bytes), algorithm: algorithm, digits: digits, period: period, start: start)
    #expect(theirs == (try (0..<200).map { try totp.code(at: time + $0 * Int64(period)).code }))
  }

  @Test("Base32 secrets", arguments: 1..<21)
  func base32(byteCount: Int) throws {
    let text = Base32.encode(SecureRandom.bytes(byteCount))
    let theirs = try OATHTool.run(["--hotp", "--base32", "--counter=1", text])
    #expect(theirs == [try HOTP(secret: Base32.decodeSecret(text)).code(at: 1)])
  }
}
