import BenchReport
import Foundation
import SignetCrypto
import SignetHTTPServer
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting

/// A server in a separate process, so that its CPU time is measured alone, with users whose codes the benchmark can make.
///
/// It is the server of `signet-server` except for its clock, which only advances on command. A user has three codes at any time,
/// and a benchmark needs thousands. Each user uses all codes in order, as with a running clock.
enum ServerProcess {
  static let verb = "serve"
  /// The load comes from one address, and its earlier connections may still be open when the next ones come.
  static let limits: ServerLimits = {
    var limits = ServerLimits()
    limits.connectionCountPerAddress = 512
    return limits
  }()
  /// The initial time.
  static let start: Int64 = 1_800_000_000
  /// The length of a step: two codes of each user.
  static let step: Int64 = 60

  /// The code secret of a user.
  static func secret(of user: Int) -> SecretBytes {
    SecretBytes(copying: HashFunction.sha256.digest(of: Array("benchmark user \(user)".utf8)))
  }

  /// Returns the storage at PostgreSQL's address; `nil` without an address, for a file in the folder.
  static func storage(_ address: String?) -> (@Sendable () throws -> Storage)? {
    guard let address else { return nil }
    return { try Storage(.server(address)) }
  }

  /// Serves until standard input ends: `serve DIRECTORY USERS [ADDRESS]` prints `PORT KEY`, and then answers `step`, `cpu` and
  /// `memory`.
  static func serve(_ arguments: [String]) async throws {
    guard 2...3 ~= arguments.count, let users = Int(arguments[1]) else { throw Options.UsageFailure() }
    let clock = VirtualClock(start)
    let server = try await TestServer(
      directory: arguments[0], protection: .device, storage: storage(arguments.dropFirst(2).first),
      clock: clock,
      limits: limits)
    try await enrol(users, server.context)
    let key = try await APIKeyService(server.context).create(
      name: "bench", scopes: [.relyingParty], by: .local)
    say("\(server.serverURL.port) \(key.text)")
    try answerQuestions { clock.advance(by: step) }
    await server.stop()
  }

  /// Answers `step`, `cpu` and `memory` until standard input ends.
  static func answerQuestions(steppingBy advance: () -> Void = {}) throws {
    while let line = readLine() {
      switch line {
      case "step":
        advance()
        say("ok")
      default: try answer(line)
      }
    }
  }

  /// Answers `cpu` and `memory`.
  static func answer(_ line: String) throws {
    say(line == "memory" ? String(try residentBytes()) : String(Clocks.processCPU))
  }

  static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  /// The peak memory of this process so far, in bytes (proc(5), `VmHWM`).
  private static func residentBytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
  }

  /// Adds users with one credential each to the database directly, since a million activations would take an hour.
  private static func enrol(_ users: Int, _ context: ServiceContext) async throws {
    for first in stride(from: 0, to: users, by: 20_000) {
      let batch = first..<min(first + 20_000, users)
      try await context.storage.seed(
        users: batch.map { UserRecord(id: "user\($0)", created: 0) },
        credentials: batch.map { user in
          let id: ID<CredentialRecord> = "container\(user)"
          return CredentialRecord(
            id: id, user: "user\(user)", kind: .totp, algorithm: "SHA256", digits: 6, period: 30,
            sealedSecret: try context.masterKey.seal(secret(of: user), for: .otpSecret(credential: id)),
            created: 0, state: .active)
        })
    }
  }
}
