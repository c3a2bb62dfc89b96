#if os(Linux)
  import BusFixture
  import Foundation
  import Signet
  import SignetCrypto
  import SignetImages
  import SignetJSON
  import SignetTestKit
  import Testing

  /// The remains of secrets in the whole memory of each command when it writes its result and when it ends.
  ///
  /// `make test` gives some commands one kind of password; with `SIGNET_KILLS` each command gets six.
  @Suite(
    .serialized, .timeLimit(.minutes(KillCount.wanted == nil ? 10 : 60)),
    .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root may look into it"))
  struct LastWriteTests {
    private typealias Search = LastWriteSearch

    private static let triesAll = Search.triesAll
    private static let turns = triesAll ? 0..<6 : 0..<1

    /// The secret of an imported account, 20 bytes.
    private static let accountSecret: [UInt8] = [
      0x9A, 0x13, 0x51, 0x76, 0x78, 0x5A, 0x01, 0xFF, 0x61, 0xB2, 0x63, 0xD4, 0x45, 0x96, 0x47, 0x48, 0x77,
      0x66, 0x55,
      0x44,
    ]
    private static let accountText = "TIJVC5TYLIA76YNSMPKELFSHJB3WMVKE"
    private static let rules =
      "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=40;LOCKTYPE=lock;LOCKCOUNTER=3"

    @Test(
      "no command holds a password, code secret or master key when it writes its result or ends",
      arguments: turns)
    func container(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop(
        ["--allow-sequences"] + (Self.triesAll ? ["--exportable-otp"] : []))
      let device = server.device("alice")
      let kinds = Search.kinds(turn)
      let search = Search(.container)
      search.add("account", Self.accountSecret)
      search.add("account's text", Array(Self.accountText.utf8))
      func expectClean(_ words: String..., passwords: [String] = []) async throws {
        try await search.expectClean(device, words, passwords)
      }
      search.served.add(server)
      let activate = ["activate", "--code-file", try await server.codeFile("alice")]
      try await search.expectClean(device, activate, [kinds[0]], storing: true)
      #expect(search.served.codeCount == 1)
      try search.addMasterKeys(of: device, openedBy: [kinds[0]])
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
      // A renewal makes another secret and other keys.
      try await search.expectClean(device, ["renew"], [kinds[2]], storing: true)
      #expect(search.served.codeCount == 2)
      #expect(search.served.unseen == [])
      try search.addMasterKeys(of: device, openedBy: [kinds[2]])
      try await expectClean("otp", passwords: [kinds[2]])
      // Commands that ask for no password may still open the container's keys.
      try await expectClean("list")
      try await expectClean("condition", "show")
      try await expectClean("policy", "explain")
      try await expectClean("trust", server.authority)
      try await expectClean("rename", "savings")
      if Self.triesAll {
        try await expectClean("doctor")
        try await expectClean("data", "decrypt", "--label", "notes", sealed, plain, passwords: [kinds[2]])
        try await digits(search, device, server, [kinds[2]])
        _ = try await server.ask("alice", "Pay 252.00 EUR")
        try await expectClean("report", passwords: [kinds[2]])
        try await expectClean("initiate", "Block my card", "--yes", passwords: [kinds[2]])
        try await expectClean(
          "export", "--container", "alice", "--format", "aegis", "--encrypt", "-o",
          "\(server.folder.path)/export.json", passwords: [kinds[2], kinds[4]])
        let made = try await search.expectClean(device, ["recovery", "create", "--json"], [kinds[2]])
        let code = try JSONObject(parsing: Array(made.output.utf8)).string("code")
        try await expectClean("recovery", "reset", passwords: [code, kinds[3]])
        try await expectClean("delete", "--yes")
      }
      search.finish()
      await server.stop()
    }

    /// Answers without a network; they need the code secret.
    private func digits(
      _ search: Search, _ device: InstalledSignet, _ server: RunningServer, _ passwords: [String]
    ) async throws {
      func approve(_ id: String, _ words: [String], _ options: [String] = []) async throws {
        let shown = try await search.expectClean(device, ["approve", "--yes"] + words, passwords)
        let digits = shown.output.trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try await server.json(
          ["transaction", "answer", id, digits, "--key-file", server.shopKey] + options)
      }
      let id = try await server.ask("alice", "Pay 253.00 EUR")
      let carried = try await server.json("transaction", "offline", id, "--key-file", server.shopKey)
      try await approve(id, ["--offline", server.write(carried.string("text"), to: "offline")])
      let typed = try await server.json(
        "transaction", "create", "alice", "Pay 254.00 EUR", "--typed", "--key-file", server.shopKey
      ).string("id")
      let asked = try await server.json("transaction", "typed", typed, "--key-file", server.shopKey)
      try await approve(typed, ["--typed", asked.string("challenge")], ["--typed"])
    }

    @Test("nor a session key's password, nor that of an unlocked container", arguments: turns)
    func session(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop([
        "--policy", Self.rules, "--session-policy", Self.rules,
      ])
      let device = server.device("alice")
      let kinds = Search.kinds(turn)
      let search = Search(.session)
      let both = [kinds[0], kinds[1]]
      search.served.add(server)
      try await search.expectClean(device, ["activate", "--code-file", server.codeFile("alice")], both)
      try search.addMasterKeys(of: device, openedBy: both)
      _ = try await server.ask("alice", "Pay 250.00 EUR")
      try await search.expectClean(device, ["pending"], [kinds[1]])
      if Self.triesAll {
        try await search.expectClean(device, ["listen", "--once", "--no-notify"], [kinds[1]])
        try await search.expectClean(device, ["approve", "--yes"], [kinds[1], kinds[0]])
        _ = try await server.ask("alice", "Pay 251.00 EUR")
        try await search.expectClean(device, ["cancel"], [kinds[1]])
        for command in [["deny"], ["report"]] {
          _ = try await server.ask("alice", "Pay 252.00 EUR")
          try await search.expectClean(device, command, [kinds[1], kinds[0]])
        }
        try await search.expectClean(device, ["initiate", "Block my card"], [kinds[1], kinds[0]])
        try await search.expectClean(device, ["condition", "report"], [kinds[1]])
        try await search.expectClean(device, ["condition", "lock"])
        try await search.expectClean(device, ["condition", "unlock"], [kinds[0]])
        try await search.expectClean(device, ["renew"], both)
        #expect(search.served.codeCount == 2)
        try await search.expectClean(device, ["otp"], [kinds[0]])
        try await search.expectClean(
          device, ["password", "change", "--key", "session"], [kinds[1], kinds[2]])
        try await search.expectClean(device, ["delete", "--yes"], [kinds[2]])
        try await search.expectClean(device, ["activate", "--code-file", server.codeFile("bob")], both)
        try await search.expectClean(device, ["reset", "--yes"], [kinds[1]])
      }
      search.finish()
      await server.stop()
    }

    @Test("nor after failed attempts: a wrong, a refused and a locking password", arguments: turns)
    func failures(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop(["--policy", Self.rules])
      let device = server.device("alice")
      let kinds = Search.kinds(turn)
      let search = Search(nil)
      search.served.add(server)
      let long = kinds[0] + kinds[3] + kinds[4]
      let activate = ["activate", "--code-file", try await server.codeFile("alice")]
      if Self.triesAll { try await search.expectClean(device, activate, [long], .failure) }
      let code = try await server.codeFile("bob")
      try await search.expectClean(device, ["activate", "--code-file", code], [kinds[0]])
      try search.addMasterKeys(of: device, openedBy: [kinds[0]])
      try await search.expectClean(device, ["otp"], [kinds[1]], .failure)
      try await search.expectClean(device, ["password", "change"], [kinds[0], long], .failure)
      if Self.triesAll {
        _ = try await server.ask("bob", "Pay 250.00 EUR")
        try await search.expectClean(device, ["approve", "--yes"], [kinds[1]], .failure)
        try await search.expectClean(device, ["password", "change"], [kinds[1], kinds[2]], .failure)
        try await search.expectClean(device, ["password", "verify"], [kinds[0]])
        try await search.expectClean(device, ["recovery", "create"], [kinds[1]], .failure)
        try await search.expectClean(device, ["password", "verify"], [kinds[0]])
        try await search.expectClean(device, ["renew"], [kinds[1]], .failure)
        try await search.expectClean(device, ["deny"], [kinds[1]], .failure)
        // The third failure locks; the password of a later attempt is not checked.
        let locking = try await search.expectClean(device, ["otp"], [kinds[1]], .failure)
        #expect(locking.status == 77, locking.summary)
        let locked = try await search.expectClean(device, ["otp"], [kinds[0]], .failure)
        #expect(locked.isRefusal(77, "locked after too many"), locked.summary)
      }
      await server.stop()
    }

    @Test("nor input typed at a terminal", arguments: turns)
    func typed(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop(["--allow-sequences"])
      let device = server.device("alice")
      let password = Search.passwords[(turn + 1) % 6]
      let search = Search(nil)
      search.served.add(server)
      try await search.expectClean(
        atTerminal: device, ["activate", "--code-file", server.codeFile("alice")], typed: [password]
      ) { terminal in
        try terminal.answer("New password: ", password)
        try terminal.answer("Repeat it: ", password)
      }
      try search.addMasterKeys(of: device, openedBy: [password])
      try await search.expectClean(atTerminal: device, ["otp"], typed: [password]) { terminal in
        try terminal.answer("Password for alice at", password)
      }
      _ = try await server.ask("alice", "Pay 250.00 EUR")
      try await search.expectClean(atTerminal: device, ["listen", "--no-notify"], typed: [password]) {
        try $0.answer("Request 1: approve, deny or report", "approve")
        try $0.answer("Password for alice at", password)
        try $0.answer("Accepted ", "\u{4}", newline: false)
      }
      await server.stop()
    }

    @Test(
      "nor a password that enables a fingerprint or the passcode",
      .enabled(if: ServiceNamespace.isPossible, "needs root, fprintd and libpam-wrapper"), arguments: turns)
    func ways(_ turn: Int) async throws {
      let kinds = Search.kinds(turn)
      let search = Search(.ways)
      let fprint = try await FprintFixture()
      try await fprint.enrol("right-index-finger", as: "right")
      let services = try PAMServiceFolder(["auth required MATRIX", "account required MATRIX"])
      for (type, command, launcher) in [
        ("biometricorpassword", "biometrics", ServiceNamespace(bus: fprint.bus.folder).launcher),
        ("devicelockorpassword", "passcode", ServiceNamespace(services: services.folder).launcher),
      ] {
        let server = try await RunningServer.startWithShop(["--policy", "TYPE=\(type);\(Self.rules)"])
        var device = server.device(type)
        device.launcher = launcher
        _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [kinds[0]])
        try search.addMasterKeys(of: device, openedBy: [kinds[0]])
        try await search.expectClean(device, [command, "enable"], [kinds[1]], .failure)
        try await search.expectClean(device, [command, "enable"], [kinds[0]])
        try await search.expectClean(device, [command, "status"])
        try await search.expectClean(device, [command, "disable"])
        await server.stop()
      }
      search.finish()
      withExtendedLifetime((fprint, services)) {}
    }

    @Test("nor the password of imported accounts or of a file", arguments: turns)
    func accounts(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop()
      let device = server.device("alice")
      let kinds = Search.kinds(turn)
      let search = Search(.accounts)
      search.add("account", Self.accountSecret)
      search.add("account's text", Array(Self.accountText.utf8))
      // Strings and lists that hold the text on its way are wiped when they are freed.
      let file = try server.write(
        "otpauth://totp/Example:alice?secret=\(Self.accountText)\n", to: "accounts.txt")
      try await search.expectClean(device, ["import", file])
      for format in ["otpauth", "andotp"] {
        try await search.expectClean(
          device, ["export", "--format", format, "-o", "\(server.folder.path)/clear"])
      }
      try search.addMasterKeys(of: device)
      let own = [kinds[3]]
      try await search.expectClean(device, ["account", "protect"], own)
      try await search.expectClean(device, ["otp", "Example:alice"], own)
      let export = "\(server.folder.path)/export.json"
      try await search.expectClean(
        device, ["export", "--format", "aegis", "--encrypt", "-o", export], [kinds[3], kinds[4]])
      if Self.triesAll {
        try await search.expectClean(device, ["account", "list"], own)
        try await search.expectClean(device, ["account", "rename", "Example", "--to", "bob"], own)
        try await search.expectClean(device, ["account", "lock", "bob"], own)
        try await search.expectClean(device, ["account", "unlock", "bob"], own)
        try await search.expectClean(device, ["account", "protect"], [kinds[3], kinds[5]])
        try await search.expectClean(device, ["account", "unprotect"], [kinds[5]])
        try await search.expectClean(device, ["account", "protect"], own)
        try await challenge(search, device, server, own)
        try await search.expectClean(device, ["account", "delete", "bob", "--yes"], own)
        try await scan(search, device, server, own)
        // Last, since the next attempt has to wait.
        try await search.expectClean(device, ["otp", "Mail"], [kinds[0]], .failure)
      }
      try await search.expectClean(device, ["account", "clear", "--yes"])
      try await search.expectClean(device, ["import", export], [kinds[4]])
      search.finish()
      await server.stop()
    }

    /// Answers a challenge for which a PIN is asked.
    private func challenge(
      _ search: Search, _ device: InstalledSignet, _ server: RunningServer, _ own: [String]
    ) async throws {
      let account = try OTPAccount(
        issuer: "Bank", name: "carol", kind: .ocra(try OCRASuite("OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1")),
        secret: SharedSecretBox(SecretBytes(copying: Array("12345678901234567890123456789012".utf8))))
      let contents = try AccountFile.write([account], as: .pskc).contents
      let document = try server.write(
        String(decoding: contents.withSecret { $0.insecureCopy() }, as: UTF8.self), to: "ocra")
      #expect(try await device.run("import", document, passwords: own).status == 0)
      try await search.expectClean(
        device, ["account", "respond", "Bank", "12345678", "--pin-fd", "0"], own + ["864209"])
    }

    /// Scans a picture.
    ///
    /// Its content is not treated as a secret, since the picture has it in the clear.
    private func scan(
      _ search: Search, _ device: InstalledSignet, _ server: RunningServer, _ own: [String]
    ) async throws {
      let other = server.device("other")
      let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
      _ = try await other.json("import", "otpauth://totp/Mail:dora?secret=\(secret)&issuer=Mail")
      let picture = "\(server.folder.path)/export.png"
      #expect(try await other.run("export", "--png", picture).status == 0)
      try await search.expectClean(device, ["scan", picture], own)
    }

    @Test("nor the secrets of push and code accounts", arguments: turns)
    func apps(_ turn: Int) async throws {
      let server = try await RunningServer.startWithShop()
      try await server.addUser("alice")
      let device = server.device("alice")
      let kinds = Search.kinds(turn)
      let own = [kinds[2]]
      let search = Search(.apps)
      search.served.add(server)
      let service = ["--push-token", "gateway-7", "--push-service", "webhook"]
      let file = try server.write(await server.inviteApp("alice", "Shop", codes: "hotp"), to: "app")
      try await search.expectClean(device, ["import", file] + service, storing: true)
      // Bytes and text, of messages and of codes.
      #expect(search.served.codeCount == 1 && search.served.unseen == [])
      _ = try await device.json("account", "protect", passwords: own)
      try search.addMasterKeys(of: device, openedBy: own)
      try await search.expectClean(device, ["otp", "Shop"], own)
      func receive(_ text: String) async throws -> String {
        let (file, id) = try await server.push(text, to: "alice")
        try await search.expectClean(device, ["message", "receive", file], own)
        return id
      }
      try await search.expectClean(device, ["message", "approve", receive("Sign in")], own)
      if Self.triesAll {
        let denied = try await receive("Change the address")
        try await search.expectClean(device, ["message", "list"], own)
        try await search.expectClean(device, ["message", "show", denied], own)
        try await search.expectClean(device, ["message", "deny", denied], own)
        try await search.expectClean(device, ["message", "delete", denied], own)
        try await search.expectClean(
          device, ["message", "token", "--push-token", "gateway-8", "--push-service", "webhook"], own)
        try await moreApps(search, device, server, own)
        try await search.expectClean(device, ["account", "list"], own)
        try await search.expectClean(device, ["account", "rename", "Shop", "--issuer", "Store"], own)
        try await search.expectClean(device, ["account", "lock", "Store"], own)
        try await search.expectClean(device, ["account", "unlock", "Store"], own)
        let export = ["export", "--format", "aegis", "--encrypt", "-o", "\(server.folder.path)/export.json"]
        try await search.expectClean(device, export, own + [kinds[4]])
        let waiting = try await receive("Pay")
        try await search.expectClean(device, ["account", "delete", "Picture", "--yes"], own)
        // Last, since the next attempt has to wait.
        try await search.expectClean(device, ["message", "approve", waiting], [kinds[0]], .failure)
      }
      search.finish()
      await server.stop()
    }

    /// Enrols with a picture, and answers within `listen`.
    private func moreApps(
      _ search: Search, _ device: InstalledSignet, _ server: RunningServer, _ own: [String]
    ) async throws {
      for user in ["bob", "carol"] { try await server.addUser(user) }
      let picture = "\(server.folder.path)/app.png"
      let uri = try await server.inviteApp("carol", "Picture", codes: "totp")
      try QRCode(uri).writePNG(to: picture)
      try await search.expectClean(device, ["scan", picture], own, storing: true)
      try await search.expectClean(device, ["otp", "Picture"], own)
      let live = try server.write(await server.inviteApp("bob", "Live"), to: "live")
      try await search.expectClean(device, ["import", live, "--push-service", "live"], own, storing: true)
      #expect(search.served.codeCount == 2 && search.served.unseen == [])
      // The server has accepted the URI once, so it rejects it now.
      try await search.expectClean(device, ["import", live, "--push-service", "live"], own, .failure)
      _ = try await server.push("Log in?", to: "bob")
      try await search.expectClean(
        atTerminal: device, ["listen", "--no-notify", "--messages"], typed: own
      ) { terminal in
        try terminal.answer("Password for", own[0])
        try terminal.answer("Request 1: approve or deny", "approve")
        try terminal.answer("Password for", own[0])
        try terminal.answer("Approved.", "\u{4}", newline: false)
      }
    }

    @Test("nor a UAF PIN or password", arguments: turns)
    func uaf(_ turn: Int) async throws {
      let party = try await UAFParty.start()
      let device = party.device()
      let search = Search(.uaf)
      let (first, second) = (Search.passwords[(5 + turn) % 6], Search.passwords[(4 + turn) % 6])
      let register = ["uaf", "register", "alice", "--token-fd", "0", "--device-name", "laptop"] + party.words
      try await search.expectClean(device, register + ["-a", "password"], [first], after: [party.key])
      try search.addMasterKeys(of: device, openedBy: [first])
      try await search.expectClean(device, ["uaf", "list"])
      try await search.expectClean(device, ["uaf", "device", "show"])
      try await search.expectClean(device, ["uaf", "device", "change", "--name", "desk"] + party.words)
      try await search.expectClean(device, ["uaf", "device", "check"] + party.words)
      if Self.triesAll {
        let authenticate = ["uaf", "authenticate", "alice", "-a", "password"] + party.words
        try await search.expectClean(device, authenticate, [first])
        try await search.expectClean(device, ["uaf", "password", "alice"], [first, "q7#Zk"], .failure)
        try await search.expectClean(device, ["uaf", "password", "alice"], [first, second])
        try await search.expectClean(device, authenticate, [first], .failure)
        let targets = try await device.json("uaf", "device", "show").array("dispatchTargets")
        guard case .object(let target)? = targets.first else { throw JSONFailure.missingMember("id") }
        let context: JSONObject = ["username": "alice", "transaction": "Pay 20 EUR to Bob"]
        let link = try await party.link("authentication", to: target.string("id"), context)
        try await search.expectClean(device, ["uaf", "oob", "run", link] + party.words, [second])
        _ = try await party.link("authentication", to: target.string("id"), context)
        try await search.expectClean(device, ["uaf", "pending", "--run"] + party.words, [second])
        let pins = ["864209", "161803"]
        try await search.expectClean(device, register + ["-a", "pin"], [pins[0]], after: [party.key])
        try await search.expectClean(device, ["uaf", "pin", "alice"], [pins[1], pins[0]], .failure)
        try await search.expectClean(device, ["uaf", "pin", "alice"], pins)
        try await search.expectClean(
          device, ["uaf", "authenticate", "alice", "-a", "pin"] + party.words, [pins[1]])
      } else {
        let pin = try await device.run(register + ["-a", "pin"], passwords: [party.key, "864209"])
        #expect(pin.status == 0, pin.summary)
      }
      // One with the server, the other without.
      try await search.expectClean(
        device, ["uaf", "deregister", "alice", "-a", "password", "--yes"] + party.words)
      try await search.expectClean(device, ["uaf", "delete", "alice", "-a", "pin", "--yes"])
      search.finish()
      await party.server.stop()
    }

    @Test("nor the agent's unlock password, nor its keys after a lock", arguments: turns)
    func agent(_ turn: Int) async throws {
      let (password, wrong) = (Search.passwords[(turn + 1) % 6], Search.passwords[turn % 6])
      let bench = try await AgentBench(password: password)
      let agent = try await bench.startAgent()
      let search = Search(.agent)
      try search.addMasterKeys(of: bench.device)
      let words = [
        "--group", "office", "--socket", bench.socket, "--agent", try InstalledSignet.executable(),
      ]
      func expectCleanAgent(_ texts: [String], _ step: Comment) throws {
        let found = try search.found(in: agent.id, texts, control: bench.socket)
        #expect(found.isEmpty, "\(step): \(found)")
      }
      try await search.expectClean(bench.device, ["unlock"] + words, [wrong], .failure)
      try expectCleanAgent([wrong], "after a wrong one")
      try await search.expectClean(bench.device, ["unlock"] + words, [password])
      try expectCleanAgent([wrong, password], "after unlock")
      var app = bench.device
      app.program = bench.folder.file("apps/one")
      try await search.expectClean(
        app,
        [
          "data", "encrypt", "--shared", "--label", "notes", bench.folder.file("text"),
          bench.folder.file("out"),
        ]
          + words, [])
      try expectCleanAgent([wrong, password], "after it has encrypted")
      try await search.expectClean(bench.device, ["status"] + words)
      try await search.expectClean(bench.device, ["lock"] + words.dropFirst(2))
      try expectCleanAgent([wrong, password], "after lock")
      search.finish()
      await agent.kill(SIGTERM)
    }
  }
#endif
