import Foundation
import Signet
import SignetCrypto
import SignetJSON
import SignetSQLite
import Testing

/// `signet` with misbehaving servers: a message, a status, and an unchanged folder.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BadServerTests {
  /// Runs a command that must fail, in a folder with a container; an activation also runs in a new folder by default.
  private func expectRefusal(
    _ server: RunningServer, _ device: InstalledSignet, _ words: [String], _ status: Int32, _ text: String,
    _ whose: String = "", inNewFolder: Bool = true, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try FolderSnapshot(device.data)
    let result = try await device.run(words)
    #expect(result.isRefusal(status, text), "\(whose): \(result.summary)", sourceLocation: location)
    #expect(try FolderSnapshot(device.data) == before, sourceLocation: location)
    guard inNewFolder, words.first == "activate" else { return }
    let fresh = InstalledSignet(data: "\(device.data)-\(UUID().uuidString)", authority: device.authority)
    let again = try await fresh.run(words)
    #expect(again.isRefusal(status, text), again.summary, sourceLocation: location)
    // The first command has created an empty vault without a container.
    #expect(try FolderSnapshot(fresh.data).paths == ["software-keystore.key", "vault.sqlite"])
    #expect(try await fresh.containers().isEmpty)
  }

  private func activated() async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    return (server, device)
  }

  @Test func aServerWithAnotherKeyOrFromAnotherAuthority() async throws {
    let (server, device) = try await activated()
    try await server.addUser("bob")
    var code = try await server.invite("bob")
    #expect(code.pins.count == 1)
    code.pins[0][31] ^= 1
    try await expectRefusal(
      server, device, ["activate", "--code-file", server.write(code.text, to: "unpinned")], 76,
      "not one of the pinned keys: it was changed since the code was made, or somebody intercepts the connection; ask the operator"
    )
    code.pins[0][31] ^= 1
    let file = try server.write(code.text, to: "bob")
    var stranger = device
    stranger.authority = nil
    try await expectRefusal(
      server, stranger, ["activate", "--code-file", file], 76, "its issuer is not trusted")
    let elsewhere = try await RunningServer.start()
    stranger.authority = elsewhere.authority
    try await expectRefusal(
      server, stranger, ["activate", "--code-file", file], 76, "its issuer is not trusted")
    await elsewhere.stop()
    // The server counted no attempt, so the code is still valid.
    #expect(try await server.audited("activation.refused").isEmpty)
    _ = try await device.json("activate", "--code-file", file)
    await server.stop()
  }

  @Test func aServerThatIsForAnotherName() async throws {
    let (server, device) = try await activated()
    var code = try await server.invite("alice")
    code.server = try ServerURL("localhost:\(server.port)/main")
    let file = try server.write(code.text, to: "name")
    try await expectRefusal(server, device, ["activate", "--code-file", file], 76, "it is for another name")
    // A name in the certificate that differs from the server's own name.
    code.server = try ServerURL("127.0.0.1:\(server.port)/other")
    let domain = try server.write(code.text, to: "domain")
    try await expectRefusal(
      server, device, ["activate", "--code-file", domain], 76, "nothing is at this path; check the URL")
    await server.stop()
  }

  @Test(.enabled(if: FakeServer.canRun, "needs python3")) func somethingElseListens() async throws {
    let (server, device) = try await activated()
    try await server.addUser("bob")
    let code = try server.write(await server.invite("bob").text, to: "bob")
    let transaction = try await server.ask("alice", "Pay")
    await server.stop()
    for behaviour in FakeServer.Behaviour.allCases {
      let fake = try await FakeServer(behaviour, certificateOf: server, port: server.port)
      let (status, text) = Self.refusal(of: behaviour)
      let timeout = behaviour.rawValue.hasPrefix("silent") ? "1" : "30"
      // Commands that look for pending requests ask in one way. A new folder's state does not depend on the answer: it is tried
      // once without a connection and once with one.
      for words in [["activate", "--code-file", code], ["approve", transaction, "--yes"]] {
        try await expectRefusal(
          server, device, words + ["--timeout", timeout], status, text, "\(behaviour)",
          inNewFolder: [.noise, .halfBody].contains(behaviour))
      }
      if behaviour == .noJSON { try await expectRefusal(server, device, ["pending"], status, text) }
      if behaviour == .silent {
        // A code needs no network.
        #expect(try await device.json("otp").string("code").count == 6)
      }
      try fake.stop()
    }
    // With the real server back, everything works as before.
    let real = try await server.again()
    _ = try await device.json("approve", transaction, "--yes")
    _ = try await device.json("activate", "--code-file", code)
    try SignedDecisionCheck.expectAccepted(await real.transaction(transaction))
    await real.stop()
  }

  private static func refusal(of behaviour: FakeServer.Behaviour) -> (status: Int32, text: String) {
    switch behaviour {
    case .noise: (76, "TLS handshake failed")
    case .noHTTP: (76, "response is not HTTP")
    case .noJSON: (76, "does not follow this protocol; check the server URL")
    case .webPage: (76, "does not follow this protocol; check the server URL")
    case .badGateway: (75, "failed (status 502); try again")
    case .halfBody: (69, "cut short")
    case .redirect: (76, "redirect (302), which is not followed")
    case .endless: (76, "larger than 2097152 bytes")
    case .silent, .silentAfterTLS: (75, "did not answer in time")
    case .hangUp: (76, "TLS handshake failed")
    case .hostileText: (76, "My Own Bank AG")
    }
  }

  @Test("a server error is reported as temporary, to devices and to operators")
  func serverFails() async throws {
    let (server, device) = try await activated()
    // The server rejects a user's row that an attacker has changed.
    try Database(path: "\(server.data)/signet.sqlite", mode: .readWrite).execute(
      "UPDATE users SET created = 1")
    let asked = try await device.run("pending")
    #expect(asked.isRefusal(75, "Server error; nothing was changed."), asked.summary)
    let invited = try await server.run("activation", "create", "alice")
    #expect(
      invited.isRefusal(75, "Server error; nothing was changed."), invited.summary)
    await server.stop()
  }

  @Test func nobodyListens() async throws {
    let (server, device) = try await activated()
    let code = try server.write(await server.invite("alice").text, to: "code")
    await server.stop()
    try await expectRefusal(
      server, device, ["activate", "--code-file", code, "--yes"], 69,
      "the server at 127.0.0.1:\(server.port) cannot be reached")
    try await expectRefusal(server, device, ["pending"], 69, "cannot be reached")
  }
}
