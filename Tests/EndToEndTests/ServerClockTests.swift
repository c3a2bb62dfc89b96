import Foundation
import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetOATH
import SignetTesting
import SignetTestKit
import Testing

/// A server whose clock is set ten minutes forward and back while it runs, by `libfaketime`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerClockTests {
  /// Debian has it in the folder of the machine's architecture.
  private static let library: String? = {
    for folder in ["x86_64-linux-gnu", "aarch64-linux-gnu"] {
      let path = "/usr/lib/\(folder)/faketime/libfaketimeMT.so.1"
      if FileManager.default.fileExists(atPath: path) { return path }
    }
    return nil
  }()
  private static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    return library != nil
  }()

  /// A running server and the authenticators of its users.
  private struct Scene {
    let server: RunningServer
    let shop: APIClient
    let device: Device
    let container: Container
    private let offsetFile: String
    private static let secret = Array("a secret of 20 bytes".utf8)

    init() async throws {
      let first = try await RunningServer.startWithShop(["--protection", "device"])
      await first.stop()
      offsetFile = "\(first.folder.path)/offset"
      try Data("+0\n".utf8).write(to: URL(filePath: offsetFile))
      let library = try #require(ServerClockTests.library, "install libfaketime")
      // The library changes the environment at its start, after which Swift does not find its arguments; so the shell loads it
      // first.
      server = try await RunningServer(
        first.folder, first.port,
        launcher: [
          "/usr/bin/env", "LD_PRELOAD=\(library)", "FAKETIME_TIMESTAMP_FILE=\(offsetFile)",
          "FAKETIME_NO_CACHE=1",
          "FAKETIME_DONT_FAKE_MONOTONIC=1", "/bin/sh", "-c", #"exec "$@""#, "sh",
        ])
      shop = try APIClient(server, keyFile: server.shopKey)
      let admin = try APIClient(server)
      for (user, kind) in [("counter", "hotp"), ("present", "totp"), ("future", "totp"), ("late", "totp")] {
        let token: JSONObject = [
          "serial": .string(user), "kind": .string(kind), "digits": 8,
          "secret": .string(Base64URL.encode(Self.secret)),
        ]
        let first = kind == "hotp" ? 0 : Self.step() - 1
        try await admin.addUser(user, token, firstCode: Self.code(first))
      }
      let folder = "\(server.folder.path)/device"
      device = Device(
        vault: try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder)),
        connection: ConnectionConfiguration(
          certificateAuthoritiesPEM: try String(contentsOfFile: server.authority, encoding: .utf8)))
      try await server.addUser("alice")
      let code = try await server.invite("alice")
      container = try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }

    /// Sets the offset of the server's clock from ours, in seconds.
    func setClock(_ offset: Int) throws {
      try Data("\(offset < 0 ? "" : "+")\(offset)\n".utf8).write(
        to: URL(filePath: offsetFile), options: .atomic)
    }

    /// The current time step, or that after a delay.
    static func step(in seconds: Int64 = 0) -> UInt64 { UInt64(Int64(time(nil)) + seconds) / 30 }

    static func code(_ counter: UInt64) throws -> String {
      try HOTP(secret: SecretBytes(copying: secret), digits: 8).code(at: counter)
    }

    /// Returns whether the server accepts a code, from an address without other attempts.
    func accepts(_ counter: UInt64, of user: String) async throws -> Bool {
      let body: JSONObject = [
        "user": .string(user), "code": .string(try Self.code(counter)), "client": .string("\(UUID())"),
      ]
      return try await shop.json(.post, "otp/validate", body).bool("valid")
    }

    func ask(lifetime: Int64 = 300) async throws -> String {
      let body: JSONObject = ["user": "alice", "text": "Pay 1 EUR", "lifetime": .integer(lifetime)]
      return try await shop.json(.post, "transactions", body).string("id")
    }

    func status(_ id: String) async throws -> String {
      try await shop.json(.get, "transactions/\(id)").string("status")
    }
  }

  @Test(
    "a decision rejected as late stays rejected after the clock is set back by a minute",
    .enabled(if: isWanted, "needs libfaketime"))
  func whatHasExpiredStaysExpired() async throws {
    let scene = try await Scene()
    let id = try await scene.ask(lifetime: 60)
    let request = try #require(try await scene.device.pendingTransactions(for: scene.container).first)
    // Just over a minute: the server still accepts the device's requests.
    for offset in [65, 5, 0] {
      try scene.setClock(offset)
      await #expect(throws: SignetError.transactionExpired) {
        try await scene.device.decide(request, .accepted, with: scene.container)
      }
    }
    #expect(try await scene.status(id) == "expired")
    await scene.server.stop()
  }

  @Test(.enabled(if: isWanted, "needs libfaketime")) func bearsStepsOfTheClock() async throws {
    let scene = try await Scene()
    let used = Scene.step()
    #expect(try await scene.accepts(used, of: "present"))
    #expect(try await scene.accepts(1, of: "counter"))
    let waiting = try await scene.ask()
    #expect(try await scene.device.pendingTransactions(for: scene.container).map(\.id.text) == [waiting])

    // Forward: codes of the right time are rejected, counter codes are not, and no code is accepted twice.
    try scene.setClock(600)
    let future = Scene.step(in: 600)
    #expect(try await scene.accepts(future, of: "future"))
    #expect(try await !scene.accepts(future, of: "future"))
    for step in [used, used + 1] { #expect(try await !scene.accepts(step, of: "present")) }
    #expect(try await scene.accepts(2, of: "counter"))
    #expect(try await scene.status(waiting) == "expired")
    await #expect(throws: SignetError.self) {
      try await scene.device.pendingTransactions(for: scene.container)
    }

    // Back: used codes stay used, ended requests stay ended, and codes of the right time are accepted again.
    try scene.setClock(0)
    #expect(try await !scene.accepts(future, of: "future"))
    #expect(try await !scene.accepts(used, of: "present"))
    #expect(try await !scene.accepts(2, of: "counter"))
    #expect(try await scene.status(waiting) == "expired")
    #expect(try await scene.device.pendingTransactions(for: scene.container).isEmpty)
    let next = max(used + 1, Scene.step())
    #expect(try await scene.accepts(next, of: "present"))

    // Behind: an unused code of the right time is rejected now and accepted later.
    try scene.setClock(-600)
    for step in [used, next] { #expect(try await !scene.accepts(step, of: "present")) }
    let unused = Scene.step()
    #expect(try await !scene.accepts(unused, of: "late"))
    #expect(try await !scene.accepts(future, of: "future"))
    #expect(try await !scene.accepts(2, of: "counter"))
    #expect(try await scene.accepts(3, of: "counter"))
    await #expect(throws: SignetError.self) {
      try await scene.device.pendingTransactions(for: scene.container)
    }

    // Right again, without a restart.
    try scene.setClock(0)
    for step in [used, next] { #expect(try await !scene.accepts(step, of: "present")) }
    #expect(try await scene.accepts(unused, of: "late"))
    #expect(try await scene.accepts(4, of: "counter"))
    let id = try await scene.ask()
    for transaction in try await scene.device.pendingTransactions(for: scene.container) {
      try await scene.device.decide(transaction, .accepted, with: scene.container)
    }
    #expect(try await scene.status(id) == "accepted")
    #expect(try await scene.server.json("audit", "verify")["intact"] == true)
    #expect(!scene.server.events.contains("\"status\":\"5"))
    await scene.server.stop()
  }
}
