#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetSQLite
  import SignetServer
  import SignetTestKit
  import Synchronization
  import Testing

  /// What is left of secrets in all memory of each command when it writes its result, and when it ends.
  ///
  /// The commands close their memory to their user: root looks into it.
  @Suite(
    .serialized, .timeLimit(.minutes(KillCount.wanted == nil ? 10 : 60)),
    .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root may look into it"))
  struct LastWriteTests {
    /// Six kinds: long, short, with spaces, composed, to be composed, and without a Latin letter.
    private static let passwords = [
      "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6Ue1Ra", "winter-garden-42", "nine corks 7 under the old staircase",
      "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6\u{E9}\u{E9}", "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6e\u{301}",
      "\u{417}\u{435}\u{43B}\u{451}\u{43D}\u{44B}\u{439}-4821-\u{6F22}\u{5B57}\u{304B}\u{306A}",
    ]

    /// The secret of an account that is imported, 20 bytes.
    private static let accountSecret: [UInt8] = [
      0x9A, 0x13, 0x51, 0x76, 0x78, 0x5A, 0x01, 0xFF, 0x61, 0xB2, 0x63, 0xD4, 0x45, 0x96, 0x47, 0x48, 0x77,
      0x66, 0x55,
      0x44,
    ]
    private static let accountText = "TIJVC5TYLIA76YNSMPKELFSHJB3WMVKE"

    /// What is looked for.
    private struct Secrets: Sendable {
      var texts: [String] = []
      var bytes: [(name: String, bytes: [UInt8])] = []

      /// A search for all of it in a process, and for what is no secret and is there.
      func search(_ process: Int32, control: String) throws -> MemorySearch {
        let search = try MemorySearch(process: process)
        for (index, text) in texts.enumerated() {
          let prepared = text.precomposedStringWithCanonicalMapping
          search.add("password \(index)", SecretBytes(copying: Array(text.utf8)))
          if Array(prepared.utf8) != Array(text.utf8) {
            search.add("prepared \(index)", SecretBytes(copying: Array(prepared.utf8)))
          }
          if prepared.utf8.count >= 24 {
            search.add(charactersOf: "characters \(index)", SecretBytes(copying: Array(prepared.utf8)))
          }
        }
        for secret in bytes { search.add(secret.name, SecretBytes(copying: secret.bytes)) }
        search.add("control", SecretBytes(copying: Array(control.utf8)))
        return search
      }
    }

    /// Runs a command, and looks for secrets at each write to its output and at its end.
    private static func expectClean(
      _ device: DeviceCommand, _ words: [String], passwords: [String] = [], _ secrets: Secrets,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
      let program = try device.program ?? DeviceCommand.executable()
      let trap = try HoldTrap(["write", "exit_group"], of: program)
      var held = device
      held.launcher = trap.launcher + held.launcher
      let process = try held.process(words, passwords: passwords).start()
      var last: HoldTrap.Call?
      var found: [String: Int] = [:]
      var count = 0
      while let call = try await trap.call(after: last, of: process) {
        if call.name == "exit_group" || call.argument == 1 {
          found = try secrets.search(process.id, control: device.data).found()
          count += 1
          #expect(found.keys.contains { $0.hasPrefix("control") }, "\(words)", sourceLocation: sourceLocation)
          found = found.filter { !$0.key.hasPrefix("control") }
          #expect(found.isEmpty, "\(words), \(call.name): \(found)", sourceLocation: sourceLocation)
        }
        last = call
        try trap.letGo(call)
      }
      let result = try await process.result()
      #expect(result.status == 0, "\(words): \(result.summary)", sourceLocation: sourceLocation)
      #expect(count > 0 && last?.name == "exit_group", "\(words)", sourceLocation: sourceLocation)
    }

    /// The secret of the codes of the only container, which its server has under its master key.
    private static func codeSecret(_ server: RunningServer) throws -> [UInt8] {
      let database = try Database(path: "\(server.data)/signet.sqlite", mode: .readOnly)
      let rows = try database.query("SELECT id, sealed_secret FROM credentials")
      let row = try #require(rows.first)
      let key = try #require(FileManager.default.contents(atPath: "\(server.data)/master.key"))
      let secret = try MasterKey(SecretBytes(copying: Array(key))).open(
        row.blob("sealed_secret"), for: .otpSecret(credential: row.text("id")))
      return secret.insecureCopy()
    }

    /// Whether each command is tried with each kind of password, as `make kill-test` does.
    ///
    /// Else each command gets one kind, and a few commands none.
    private static let triesAll = KillCount.wanted != nil

    @Test(
      "no command has a password, a secret of codes or the device's master key when it writes its result, or ends",
      arguments: triesAll ? 0..<6 : 0..<1)
    func commands(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop(["--allow-sequences"])
      let device = server.device("alice")
      let kinds = (0..<6).map { Self.passwords[($0 + turn) % 6] }
      var secrets = Secrets()
      secrets.bytes = [
        ("account", Self.accountSecret), ("account's text", Array(Self.accountText.utf8)),
      ]
      /// Runs a command with the passwords that it asks for, and looks for these.
      func expectClean(_ words: String..., passwords: [String] = []) async throws {
        secrets.texts = passwords
        try await Self.expectClean(device, words, passwords: passwords, secrets)
      }
      try await expectClean("activate", "--code-file", server.codeFile("alice"), passwords: [kinds[0]])
      let key = try #require(FileManager.default.contents(atPath: "\(device.data)/software-keystore.key"))
      secrets.bytes.append(("master key", Array(key.suffix(32))))
      secrets.bytes.append(("codes", try Self.codeSecret(server)))
      try await expectClean("otp", passwords: [kinds[0]])
      try await expectClean("password", "change", passwords: [kinds[0], kinds[1]])
      try await expectClean("password", "verify", passwords: [kinds[1]])
      _ = try await server.ask("alice", "Pay 250.00 EUR")
      try await expectClean("approve", "--yes", passwords: [kinds[1]])
      try await expectClean("password", "change", passwords: [kinds[1], kinds[2]])
      _ = try await server.ask("alice", "Pay 251.00 EUR")
      try await expectClean("deny", passwords: [kinds[2]])
      let (plain, sealed) = (try server.write("text", to: "plain"), "\(server.folder.path)/sealed")
      try await expectClean("data", "encrypt", "--label", "notes", plain, sealed, passwords: [kinds[2]])
      if Self.triesAll {
        try await expectClean("data", "decrypt", "--label", "notes", sealed, plain, passwords: [kinds[2]])
        try await expectClean("list")
        _ = try await server.ask("alice", "Pay 252.00 EUR")
        try await expectClean("report", passwords: [kinds[2]])
        try await expectClean("initiate", "Block my card", "--yes", passwords: [kinds[2]])
        try await expectClean("recovery", "create", passwords: [kinds[2]])
        try await expectClean("doctor")
        try await expectClean("renew", passwords: [kinds[2]])
      }

      // What is imported in the clear is in its file and in memory; from the next command on it is a secret.
      let file = try server.write(
        "otpauth://totp/Example:alice?secret=\(Self.accountText)\n", to: "accounts.txt")
      let imported = try await device.run("import", file)
      #expect(imported.status == 0, imported.summary)
      try await expectClean("account", "protect", passwords: [kinds[3]])
      try await expectClean("otp", "Example:alice", passwords: [kinds[3]])
      let export = "\(server.folder.path)/export.json"
      try await expectClean(
        "export", "--format", "aegis", "--encrypt", "-o", export, passwords: [kinds[3], kinds[4]])
      let cleared = try await device.run("account", "clear", "--yes")
      #expect(cleared.status == 0, cleared.summary)
      try await expectClean("import", export, passwords: [kinds[4]])
      if Self.triesAll { try await expectClean("delete", "--yes") }
      await server.stop()
    }

    @Test("a UAF password and the agent's are gone as well")
    func others() async throws {
      let party = try await UAFParty.start()
      let password = Self.passwords[5]
      try await Self.expectClean(
        party.device(), ["uaf", "register", "alice", "-a", "password", "--token-fd", "0"] + party.words,
        passwords: [party.key, password], Secrets(texts: [password]))
      if Self.triesAll {
        try await Self.expectClean(
          party.device(), ["uaf", "authenticate", "alice", "-a", "password"] + party.words,
          passwords: [password], Secrets(texts: [password]))
      }
      await party.server.stop()

      let bench = try await AgentBench()
      let agent = try await bench.startAgent()
      var secrets = Secrets(texts: [AgentBench.password])
      let key = try #require(
        FileManager.default.contents(atPath: "\(bench.device.data)/software-keystore.key"))
      secrets.bytes.append(("master key", Array(key.suffix(32))))
      try await Self.expectClean(
        bench.device,
        ["unlock", "--group", "office", "--socket", bench.socket, "--agent", try DeviceCommand.executable()],
        passwords: [AgentBench.password], secrets)
      let found = try secrets.search(agent.id, control: bench.socket).found()
      #expect(found.keys.contains { $0.hasPrefix("control") })
      #expect(found.filter { !$0.key.hasPrefix("control") }.isEmpty, "\(found)")
      await agent.kill(SIGTERM)
    }
  }
#endif
