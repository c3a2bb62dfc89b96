import Foundation
import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetServer
import SignetStorage
@testable import SignetTesting
import SignetWire
import Synchronization

/// A server in a process of its own, so that its CPU time is its own, with users whose codes the benchmark knows.
///
/// It is the server of `signet-server` with one difference: its clock stands still until it is told to go on, because a
/// user has three codes at any time and a benchmark needs thousands.
enum ServerProcess {
  static let verb = "serve"
  /// Where the clock stands at first.
  static let start: Int64 = 1_800_000_000
  /// How far a step goes: past all three codes that were good before.
  static let step: Int64 = 90

  /// The one-time password secret of a user.
  static func secret(of user: Int) -> SecretBytes {
    SecretBytes(copying: HashFunction.sha256.digest(of: Array("benchmark user \(user)".utf8)))
  }

  /// Serves until standard input ends: `serve DIRECTORY USERS` says `PORT KEY` and then answers `step` and `cpu`.
  static func serve(_ arguments: [String]) async throws {
    guard arguments.count == 2, let users = Int(arguments[1]) else { throw Options.UsageFailure() }
    let clock = SteppedClock(start)
    let server = try await TestServer(directory: arguments[0], protection: .device, clock: clock)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in 0..<users {
        if user >= 64 { try await group.next() }
        group.addTask { try await enroll(user, server.context) }
      }
      try await group.waitForAll()
    }
    let key = try await APIKeyService(server.context).create(
      name: "bench", scopes: [.relyingParty], by: "bench")
    say("\(server.serverURL.port) \(key.text)")
    while let line = readLine() {
      switch line {
      case "step":
        clock.advance(by: step)
        say("ok")
      default: say(String(Clocks.processCPU))
      }
    }
    await server.stop()
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  /// What an activation leaves behind, without the handshake.
  private static func enroll(_ user: Int, _ context: ServiceContext) async throws {
    let (name, container, now) = ("user\(user)", "container\(user)", context.clock.now)
    let event = AuditEvent(text: "{}")
    let profile = context.settings.profile.json.bytes
    try await context.storage.addUser(UserRecord(id: name, created: now), audit: event)
    try await context.storage.addActivation(
      ActivationRecord(
        id: name, user: name, sealedInviteKey: [], salt: [UInt8](repeating: 0, count: 16), memoryKiB: 0,
        passes: 0,
        lanes: 0, profile: profile, created: now, expires: now + 60), audit: event)
    let point = [UInt8](repeating: 0, count: 65)
    let record = ContainerRecord(
      id: container, user: name, activation: name, device: [UInt8](repeating: 0, count: 16), name: "",
      platform: "linux", keystore: "software", sessionKey: point, encryptionKey: point, signingKey: point,
      profile: profile, created: now)
    let credential = CredentialRecord(
      id: container, user: name, kind: .totp, algorithm: "SHA256", digits: 6, period: 30,
      sealedSecret: try context.masterKey.seal(secret(of: user), for: .otpSecret(credential: container)),
      created: now)
    _ = try await context.storage.finishActivation(
      name, container: NewContainer(record, credential), limit: 5, at: now
    ) { _ in event }
    _ = try await context.storage.confirmContainer(container, at: now) { _ in event }
  }
}

/// A clock that stands still until it is told to go on.
private final class SteppedClock: WallClock {
  private let time: Mutex<Int64>

  init(_ time: Int64) { self.time = Mutex(time) }

  var now: Int64 { time.withLock { $0 } }

  func advance(by seconds: Int64) { time.withLock { $0 += seconds } }
}
