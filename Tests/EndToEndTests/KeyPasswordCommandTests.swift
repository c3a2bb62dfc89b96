import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// Keys with separate passwords, from the server's command line to the device's, over TLS.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KeyPasswordCommandTests {
  private static let policy = "MINLEN=6;MAXLEN=40;LOCKTYPE=lock;LOCKCOUNTER=3"
  private let container = "container-42-word"
  private let signing = "signing-42-word"
  private let otp = "codes-42-word"
  private let session = "session-42-word"

  private func server(_ options: [String]) async throws -> RunningServer {
    try await RunningServer.startWithShop(["--policy", Self.policy] + options)
  }

  @Test("each key has its own password, attempt counter, password change and renewal")
  func wholeLife() async throws {
    let server = try await server(
      ["signing", "otp", "session"].flatMap { ["--\($0)-policy", Self.policy] })
    let device = server.device()
    let activated = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [container, signing, otp, session])
    #expect(try activated.bool("confirmed"))

    #expect(try await server.accepts(device.json("otp", passwords: [otp]).string("code"), of: "alice"))
    let other = try await device.run("otp", passwords: [container])
    #expect(
      other.isRefusal(77, "one-time password key: the password is wrong; 2 tries are left"), other.summary)

    let first = try await server.ask("alice", "Pay 1 EUR")
    let listed = try await device.json("pending", passwords: [session]).array("transactions")
    #expect(listed.count == 1)
    let closed = try await device.run("pending", passwords: [signing])
    #expect(closed.isRefusal(77, "session key: the password is wrong; 2 tries are left"), closed.summary)
    let unsigned = try await device.run("approve", passwords: [session, otp])
    #expect(unsigned.status == 77, unsigned.summary)
    #expect(unsigned.errorOutput.contains("signing key: the password is wrong; 2 tries"), unsigned.summary)
    _ = try await device.json("approve", passwords: [session, signing])
    #expect(try await server.transaction(first).string("status") == "accepted")
    _ = try await server.ask("alice", "Pay 2 EUR")
    _ = try await device.json("deny", passwords: [session, signing])

    #expect(try await device.json("password", "verify", passwords: [container]).bool("right"))
    #expect(
      try await device.json("password", "verify", "--key", "signing", passwords: [signing]).bool("right"))
    _ = try await device.json("password", "change", "--key", "otp", passwords: [otp, "changed-42-word"])
    let old = try await device.run("otp", passwords: [otp])
    #expect(old.isRefusal(77, "one-time password key: the password is wrong"), old.summary)
    #expect(try await device.json("otp", passwords: ["changed-42-word"]).string("code").count == 6)
    let code = try await device.json("recovery", "create", "--key", "otp", passwords: ["changed-42-word"])
      .string("code")
    _ = try await device.json("recovery", "reset", "--key", "otp", passwords: [code, otp])

    let renewed = try await device.json("renew", passwords: [container, signing, otp, session])
    #expect(try renewed.integer("renewals") == 1)
    let last = try await server.ask("alice", "Pay 3 EUR")
    _ = try await device.json("approve", passwords: [session, signing])
    #expect(try await server.transaction(last).string("status") == "accepted")
    for _ in 0..<3 { _ = try await device.run("otp", passwords: ["wrong-42-word"]) }
    let locked = try await device.run("otp", passwords: [otp])
    #expect(locked.isRefusal(77, "one-time password key: locked"), locked.summary)
    #expect(try await device.json("pending", passwords: [session]).array("transactions").isEmpty)
    let list = try await device.run("list")
    #expect(list.output.contains("active") && list.output.contains("otp: password (locked)"), list.summary)
    let refused = try await device.run("delete", "--yes", passwords: [otp])
    #expect(refused.isRefusal(77, "session key: the password is wrong"), refused.summary)
    #expect(try await device.json("delete", "--yes", passwords: [session]).string("server") == "told")
    #expect(try await server.activeContainers("alice").isEmpty)
    await server.stop()
  }

  @Test("a reset asks for session key passwords, and names the containers whose servers get no notice")
  func resets() async throws {
    let server = try await server(["--session-policy", Self.policy])
    let device = server.device()
    for user in ["alice", "bob"] {
      _ = try await device.json(
        "activate", "--code-file", server.codeFile(user), passwords: [container, session])
    }
    let bob = try #require(try await server.activeContainers("bob").first)
    let refused = try await device.run("reset", "--yes", passwords: [session, otp])
    #expect(refused.isRefusal(77, "session key: the password is wrong"), refused.summary)
    #expect(try await device.containers().count == 2)
    let reset = try await device.run("reset", "--yes", passwords: [session, ""])
    #expect(reset.status == 0 && reset.output.contains("Deleted everything."), reset.summary)
    #expect(
      reset.errorOutput.contains(
        "the servers of these containers are not notified; have their operators revoke them:\n"
          + "  bob at \(server.url), container \(bob)\n"), reset.summary)
    #expect(!reset.errorOutput.contains("alice"), reset.summary)
    #expect(try await server.activeContainers("alice").isEmpty)
    #expect(try await server.activeContainers("bob") == [bob])
    await server.stop()
  }

  @Test("each key's unlock methods are listed and explained")
  func tellsWhatOpensEach() async throws {
    let server = try await server(["--otp-policy", "pin-6", "--session-policy", "TYPE=device"])
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [container, "864209"])
    let list = try await device.run("list")
    #expect(list.output.contains("password, otp: password, session: device"), list.summary)
    guard case .object(let listed)? = try await device.json("list").array("containers").first else {
      Issue.record("nothing is listed")
      return
    }
    let keys = try listed.array("keys").compactMap { value -> String? in
      guard case .object(let key) = value else { return nil }
      return try "\(key.string("key")) \(key.string("protection")) \(key.bool("hasOwnProtection"))"
    }
    #expect(keys == ["signing password false", "otp password true", "session device true"])
    let text = try await device.run("policy", "explain")
    #expect(text.output.contains("the one-time password key of alice at \(server.url):"), text.summary)
    #expect(
      text.output.contains("A new password: 6 to 10 digits, no sequences such as 123 or 321.\n"), text.summary
    )
    let explained = try await device.json("policy", "explain")
    #expect(try explained.object("policy").string("type") == "password")
    #expect(try explained.object("keys").object("session").object("policy").string("type") == "device")
    #expect(try explained.object("keys").object("otp").array("sentences").count > 2)
    // A key without a password cannot change one, and the container's password stays.
    for name in ["signing", "session"] {
      let result = try await device.run(
        "password", "change", "--key", name, passwords: [container, "changed-42-word"])
      #expect(!result.output.contains("changed"), result.summary)
      #expect(result.status == 65, result.summary)
    }
    _ = try await device.json("otp", passwords: ["864209"])
    await server.stop()
  }

  @Test("init refuses an invalid policy of a key; warnings name the option")
  func serverOptions() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("policy")
    try Data(#"{"type":"password","password":{"minLength":4,"maxLength":8},"lock":{"type":"none"}}"#.utf8)
      .write(to: URL(filePath: file))
    func made(_ words: String...) async throws -> ServerCommand.Result {
      try await ServerCommand.run(
        ["init", "--data", folder.file("data"), "--url", "localhost:8443/main"] + words)
    }
    for (words, text) in [
      (["--session-policy", "MINLEN=6;MAXLEN=8;LOCKTYPE=silent"], "must not have a silent lock"),
      (["--signing-policy", "TYPE=biometric"], "use another type"),
      (["--otp-policy", "MINLEN=9;MAXLEN=8"], "--otp-policy: "),
      (["--otp-policy", "pin-6", "--otp-policy-file", file], "goes without --otp-policy-file"),
    ] {
      let result = try await ServerCommand.run(
        ["init", "--data", folder.file("data"), "--url", "localhost:8443/main"] + words)
      #expect(result.isRefusal(64, text), result.summary)
    }
    let unread = try await made("--otp-policy-file", folder.file("nothing"))
    #expect(unread.isRefusal(66, "cannot be read"), unread.summary)
    let result = try await made("--otp-policy-file", file, "--json")
    #expect(result.status == 0 && result.errorOutput.contains("warning: --otp-policy-file: "), result.summary)
    let profile = try JSONObject(parsing: Array(result.output.utf8)).object("profile")
    #expect(try profile.object("keys").object("otp").string("type") == "password")
    let stored = try JSONObject(
      parsing: Array(Data(contentsOf: URL(filePath: "\(folder.file("data"))/server.json"))))
    #expect(try stored.object("profile") == profile)
    let shown = try await ServerCommand.run([
      "init", "--data", folder.file("other"), "--url", "localhost:8443/main", "--signing-policy", "psd2",
    ])
    #expect(shown.status == 0 && shown.output.contains("Policy, signing key"), shown.summary)
  }
}
