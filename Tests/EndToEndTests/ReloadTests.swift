import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// SIGHUP: the server continues with the current contents of its folder.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReloadTests {
  /// The events of one name, once there are enough.
  private static func events(
    _ name: String, _ server: RunningServer, count: Int
  ) async throws -> [JSONObject] {
    while true {
      let found = try server.events.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
        .filter { try $0.string("event") == name }
      if found.count >= count { return found }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  @Test("after SIGHUP a server with nothing to reload keeps running and logs that")
  func goesOn() async throws {
    let server = try await RunningServer.start()
    for count in 1...3 {
      server.send(SIGHUP)
      let last = try #require(try await Self.events("reload.done", server, count: count).last)
      #expect(try last.string("certificate") == "unchanged" && last.string("settings") == "unchanged")
    }
    #expect(try await APIClient(server).send(.get, "live").status == 200)
    await server.stop()
    #expect(!server.events.contains("reload.restartNeeded"))
  }

  @Test("an account policy that the server does not evaluate is logged at the start and after SIGHUP")
  func unevaluatedPolicy() async throws {
    let server = try await RunningServer.start { _, settings in
      settings["devices"] = ["reactions": ["screenLok": "lock"]]
    }
    let first = try await Self.events("policy.notEvaluated", server, count: 1)
    #expect(try first[0].string("advice").hasSuffix("did you mean screenLock?"))
    server.send(SIGHUP)
    #expect(try await Self.events("policy.notEvaluated", server, count: 2).count == 2)
    await server.stop()
  }

  @Test("a missing file is named with its setting, and the exit status is that of invalid settings")
  func missingFile() async throws {
    let server = try await RunningServer.start()
    await server.stop()
    try FileManager.default.removeItem(atPath: "\(server.data)/tls.key")
    let refused = try await server.run("serve")
    #expect(refused.status == 78, refused.summary)
    #expect(
      refused.errorOutput.contains("tls.key is missing, which \"tls.key\" of server.json names"),
      refused.summary)
  }

  #if os(Linux)
    @Test("SIGHUP during the start does not end the server; it reloads once it serves")
    func whileStarting() async throws {
      let server = try await RunningServer.start()
      await server.stop()
      // The first line in its log, which says that it listens.
      let trap = try HoldTrap(["write"], of: try Programs.path("signet-server"))
      var command = try ServerCommand.process(["serve", "--data", server.data])
      command.line = trap.launcher + command.line
      command.output = .pipe
      let process = try command.start()
      defer { process.send(SIGTERM) }
      _ = try #require(try await trap.call(after: nil, of: process))
      #expect(!process.errorOutputSoFar.contains("server.started"))
      for _ in 0..<3 { #expect(process.send(SIGHUP)) }
      try trap.letGoAll()
      let line = try #require(await process.output.firstLine())
      #expect(line.hasPrefix("listening on "), "\(line)")
      while !process.errorOutputSoFar.contains("reload.done") {
        try #require(process.isRunning, "\(process.errorOutputSoFar)")
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(try await APIClient(server).send(.get, "live").status == 200)
      process.send(SIGTERM)
      #expect(await process.status() == 0)
    }
  #endif

  @Test(
    "a renewed certificate is presented after SIGHUP without interrupting requests", arguments: [false, true])
  func certificate(hasNewKey: Bool) async throws {
    let server = try await RunningServer.startWithShop()
    let first = try String(contentsOfFile: server.authority, encoding: .utf8)
    let before = try await server.json("certificate", "show")
    let words = ["certificate", "renew"] + (hasNewKey ? ["--new-key"] : [])
    #expect(try await ServerCommand.run(words + ["--data", server.data]).status == 0)
    server.send(SIGHUP)
    let done = try await Self.events("reload.done", server, count: 1)
    #expect(try done[0].string("certificate") == "new")
    // A client that trusts only the new authority is served now, and one that trusts only the old authority is not.
    let both = try String(contentsOfFile: server.authority, encoding: .utf8)
    let end = "-----END CERTIFICATE-----\n"
    let newest = try #require(both.range(of: end).map { String(both[..<$0.upperBound]) })
    let trusting = try CurlTransport(ConnectionConfiguration(certificateAuthoritiesPEM: newest))
    #expect(try await trusting.send(HTTPRequest(url: "https://\(server.url)/v1/live")).status == 200)
    let old = try CurlTransport(ConnectionConfiguration(certificateAuthoritiesPEM: first))
    await #expect(throws: TransportFailure.self) {
      try await old.send(HTTPRequest(url: "https://\(server.url)/v1/live"))
    }
    // New codes name the key that the server presents now.
    let after = try await server.json("certificate", "show")
    #expect((try before.string("pin") != after.string("pin")) == hasNewKey)
    let device = server.device()
    let activated = try await device.run(
      "activate", "--code-file", server.codeFile("alice"), passwords: ["winter-garden-42"])
    #expect(activated.status == 0, activated.summary)
    for count in 2...4 {
      server.send(SIGHUP)
      _ = try await Self.events("reload.done", server, count: count)
    }
    await server.stop()
  }

  @Test("SIGHUP applies the reloadable settings, and the log names those that require a restart")
  func settings() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "alice")
    try server.changeSettings { settings in
      settings["limits"] = ["inviteLifetime": 3600]
      settings["connections"] = ["total": 500]
      settings["database"] = ["busyTimeout": 3]
    }
    server.send(SIGHUP)
    let done = try await Self.events("reload.done", server, count: 1)
    #expect(try done[0].string("settings") == "limits" && done[0].string("certificate") == "unchanged")
    let needed = try await Self.events("reload.restartNeeded", server, count: 1)
    #expect(try needed[0].string("settings") == "connections, database")
    let before = Int64(Date().timeIntervalSince1970)
    // The command sets the lifetime itself; a request without a lifetime gets that of the settings.
    let invite = try await APIClient(server).json(.post, "admin/activations", ["user": "alice"])
    let after = Int64(Date().timeIntervalSince1970)
    #expect(try (before...after).contains(invite.integer("expires") - 3600))
    // Nothing else was changed since, but the restart is still due.
    server.send(SIGHUP)
    #expect(try await Self.events("reload.done", server, count: 2)[1].string("settings") == "none applied")
    await server.stop()
  }

  @Test("if the folder is invalid, the settings stay as they were and the log gives the reason")
  func refused() async throws {
    let server = try await RunningServer.start()
    let transport = try CurlTransport(
      ConnectionConfiguration(
        certificateAuthoritiesPEM: String(contentsOfFile: server.authority, encoding: .utf8)))
    var causes: Set<String> = []
    for (number, what) in ["server.json", "masterKeyCheck", "tls.key", "admin.key"].enumerated() {
      let name = what == "masterKeyCheck" ? "server.json" : what
      let path = "\(server.data)/\(name)"
      let whole = try Data(contentsOf: URL(filePath: path))
      switch what {
      case "masterKeyCheck":
        try server.changeSettings { $0["masterKeyCheck"] = "AAAAAAAAAAAAAAAAAAAAAA" }
      case "server.json": try server.changeSettings { $0["limmits"] = [:] }
      case "tls.key": try Data("none\n".utf8).write(to: URL(filePath: path), options: [])
      default: #expect(chmod(path, 0o644) == 0)
      }
      server.send(SIGHUP)
      let refused = try await Self.events("reload.refused", server, count: number + 1)
      causes.insert(try refused[number].string("cause"))
      #expect(try await transport.send(HTTPRequest(url: "https://\(server.url)/v1/live")).status == 200)
      try whole.write(to: URL(filePath: path), options: [])
      #expect(chmod(path, 0o600) == 0)
    }
    #expect(causes.contains { $0.contains("\"masterKeyCheck\" was changed") }, "\(causes)")
    #expect(causes.count == 4 && !causes.contains(""), "\(causes)")
    await server.stop()
    #expect(!server.events.contains("reload.done"))
  }
}
