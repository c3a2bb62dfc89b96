import Foundation
import PushFixture
import SignetCrypto
import SignetDataDirectory
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// Texts of other parties on real terminals: the first column of every row is ours, at any character width.
@Suite(
  .serialized, .timeLimit(.minutes(10)), .enabled(if: Screens.isWanted, "needs tmux and SIGNET_PYTHON"))
struct ScreenTests {
  private typealias Screen = (kind: String, columns: Int)

  /// The terminals: tmux and pyte, 80 and 40 columns wide.
  private static let screens: [Screen] = [("tmux", 80), ("tmux", 40), ("pyte", 80), ("pyte", 40)]
  private static let narrow = screens[1]

  /// A character with a spacing mark.
  private static let spacing = "\u{915}\u{903}"

  /// Characters whose width differs between terminals.
  private static let doubtful = [
    "\u{1100}", "\u{915}\u{94D}\u{937}", spacing, "\u{17000}", "\u{1B000}", "\u{4DC0}", "\u{A960}",
    "é", "Ж", "送", "👍", " ",
  ]

  /// Text that would look like one of our rows if it started in the first column.
  private static let madeUp = "from    My Own Bank AG"

  /// The beginnings of our rows during an approval.
  private static let approval = [
    "You are about to", "  as      ", "  at      ", "  id      ", "  expires ", "Accepted ",
  ]

  /// The beginnings of a list's rows: cells of other parties behind a bar and, below them, an overlong column behind its title.
  private static let list: [String] =
    ["| ", "  |"]
      + """
      AAID ACCOUNT ACTION ADDED ALGORITHM APP ASKED AUTHENTICATION AUTHENTICATOR BY CLIENT CONTAINER CONTENT COUNTER CREATED DELIVERY DESCRIPTION DETAILS
      DEVICE DISPATCHER DONE ENCRYPTED ENDS EVENT EXPORTABLE FAILURES ID IMPORTED ISSUER KEY KEYS KEYSTORE KIND NAME ORDERED PLATFORM
      PROTECTION PROVES REASON RENEWALS REQUEST RETIRED REVOKED ROOTS SCOPES SERVER SIGNED STANDING STATE STATUS TARGET TIME TOKEN TRANSACTION TYPE
      USABLE USER USERS VERSION
      """.split(whereSeparator: \.isWhitespace).map { "  \($0)  " } + [
      "  PUSHES BY  ", "  LAST ANSWER  ", "  LAST SEEN  ", "  LAST USED  ",
    ]

  /// Lines that end before and behind the columns of a window, by various counts.
  private static func hostile(_ character: String) -> String {
    [12, 13, 26, 32, 37, 38, 39, 40, 76, 78].map { count in
      String(repeating: character, count: count) + madeUp
    }.joined(separator: "\n")
  }

  /// The rows of each screen after a command has run on it; an endless command is ended once the screen shows a text.
  private func shown(
    _ line: ChildCommand, endedAt text: String? = nil, on screens: [Screen] = screens
  ) async throws -> [(screen: Screen, rows: [String])] {
    let python = try #require(Screens.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Interop/screen.py")
    var environment = line.environment
    environment["LC_ALL"] = "C.UTF-8"
    environment["PATH"] = "/usr/bin:/bin"
    environment["SCREEN_STOP"] = text
    let names = screens.map { "\($0.kind):\($0.columns)" }.joined(separator: ",")
    let result = try await ChildCommand(
      [python, script.path, names] + line.line, environment: environment
    ).finish()
    try #require(result.status == 0, result.summary)
    let lines = result.output.split(separator: "\n")
    try #require(lines.count == screens.count, result.summary)
    return try zip(screens, lines).map { ($0, try JSONValue(parsing: Array($1.utf8)).texts) }
  }

  private func rows(on screen: Screen, _ line: ChildCommand) async throws -> [String] {
    try #require(try await shown(line, on: [screen]).first).rows
  }

  /// Expects on each screen that every row begins like one of ours, and that the text is there.
  private func expectOurs(
    _ line: ChildCommand, _ beginnings: [String], endedAt text: String? = nil, on screens: [Screen] = screens,
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    for (screen, rows) in try await shown(line, endedAt: text, on: screens) {
      expectOurs(rows, beginnings, screen, at: location)
    }
  }

  /// The mark before the rows of each of several commands on one screen.
  private static let mark = "== "

  /// Runs commands in order on each screen, in the environment of the first, and checks the rows of each like those of a single
  /// command.
  private func expectOurs(
    ofEach commands: [ChildCommand], _ beginnings: [String], _ server: RunningServer,
    on screens: [Screen] = screens, at location: SourceLocation = #_sourceLocation
  ) async throws {
    var script = ""
    for (number, command) in commands.enumerated() {
      let words = command.line.map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }
      script += "echo '\(Self.mark)\(number)'\n" + words.joined(separator: " ") + "\n"
    }
    // In a file: tmux limits the length of a command line.
    var all = try #require(commands.first)
    all.line = ["/bin/sh", try server.write(script, to: "\(UUID()).sh")]
    for (screen, rows) in try await shown(all, on: screens) {
      let parts = rows.parts { $0.hasPrefix(Self.mark) }
      try #require(parts.count == commands.count, "\(screen): \(rows)")
      for part in parts { expectOurs(Array(part.dropFirst()), beginnings, screen, at: location) }
    }
  }

  /// Indicates whether a row without a bar continues our own text; hostile texts in these tests have marked letters.
  private static func goesOnWithOurs(_ row: String) -> Bool {
    row.hasPrefix("    ") && row.utf8.allSatisfy { $0 < 0x80 }
      && !["Own", "Bank", "xx", "yy"].contains { row.contains($0) }
  }

  /// Expects that every row begins like one of ours, and that the text is there.
  private func expectOurs(
    _ rows: [String], _ beginnings: [String], _ screen: Screen,
    of character: String = "",
    at location: SourceLocation = #_sourceLocation
  ) {
    for row in rows where !row.isEmpty {
      // Spaces at the end of a row are not visible.
      let isOurs = beginnings.contains { "\(row)  ".utf8.starts(with: $0.utf8) } || Self.goesOnWithOurs(row)
      #expect(isOurs, "\(screen): \(row.debugDescription)", sourceLocation: location)
    }
    // pyte draws nothing after a spacing mark in a row.
    let isCut =
      screen.kind == "pyte"
      && character.unicodeScalars.contains { $0.properties.generalCategory == .spacingMark }
    #expect(
      isCut ? rows.contains { $0.contains("| ") } : rows.joined().contains("Own"), "\(screen): \(rows)",
      sourceLocation: location)
  }

  @Test("a relying party's text never reaches the first column")
  func transactions() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["limits"] = ["pendingTransactions": 20, "challenges": 20]
    }
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    // Six texts fit on a screen; each begins with the row of its ID.
    for first in stride(from: 0, to: Self.doubtful.count, by: 6) {
      var texts: [(id: String, character: String)] = []
      for character in Self.doubtful[first..<min(first + 6, Self.doubtful.count)] {
        texts.append((try await server.ask("alice", Self.hostile(character)), character))
      }
      for (screen, rows) in try await shown(device.process(["pending"])) {
        let parts = rows.parts { row in texts.contains { row.hasPrefix("| \($0.id)") } }
        #expect(parts.count == texts.count, "\(screen): \(rows)")
        for (id, character) in texts {
          let part = try #require(parts.first { $0[0].hasPrefix("| \(id)") }, "\(screen): \(rows)")
          expectOurs(part, ["| \(id)", "  from    shop", "  | "], screen, of: character)
        }
      }
      // All of them on one screen, one command after the other.
      var approving = try device.process(["approve"])
      approving.line =
        ["/bin/sh", "-c", #"for id in $ids; do "$@" "$id" --yes; done"#, "sh"] + approving.line
      approving.environment["ids"] = texts.map { $0.id }.joined(separator: " ")
      let approved = try await rows(on: Self.narrow, approving).parts { $0.hasPrefix("You are about to") }
      #expect(approved.count == texts.count, "\(approved)")
      for (part, (_, character)) in zip(approved, texts) {
        expectOurs(part, ["  from    shop", "  | "] + Self.approval, Self.narrow, of: character)
      }
    }
    // A text whose whole room is used up by marks.
    for screen in Self.screens {
      let texts = [
        "Pay 9999" + String(repeating: "\n", count: 62) + "Pay\u{A0}1\nשלם 100",
        "Pay 1 e" + String(repeating: "\u{301}", count: 2000),
      ]
      var shown: [String] = []
      for text in texts {
        let id = try await server.ask("alice", text)
        shown += try await rows(on: screen, device.process(["approve", id, "--yes"]))
      }
      for row in ["  | Pay 9999", "  ~ 61 empty lines", "  | 100"] {
        #expect(shown.contains(row), "\(shown)")
      }
      #expect(
        shown.contains { $0.contains("␣{A0}1") } && shown.joined().contains("\\u{301×1996}"), "\(shown)")
    }
    await server.stop()
  }

  /// Adds transactions of alice to a stopped server, with IDs as a foreign server might choose them.
  private static func add(_ texts: [(id: TransactionID, text: String)], _ server: RunningServer) async throws
  {
    let context = try DataDirectory(opening: server.data).serviceContext(log: EventLog { _ in })
    for (id, text) in texts {
      let now = context.clock.now
      let record = TransactionRecord(
        id: id, user: "alice", content: try TransactionContent(.text(text), from: .relyingParty("shop")).json,
        created: now, expires: now + 300)
      let outcome = try await context.storage.addTransaction(
        record, key: nil, limits: TransactionLimits(pending: 100, challenges: 100)
      ) {
        _ in
        .sample()
      }
      #expect(outcome == .added)
    }
    await context.storage.close()
  }

  @Test("a transaction id of maximum length never reaches the first column")
  func longIDs() async throws {
    let first = try await RunningServer.startWithShop(["--protection", "device"])
    let device = first.device()
    _ = try await device.json("activate", "--code-file", first.codeFile("alice"))
    var texts: [(id: TransactionID, text: String)] = []
    for (number, screen) in Self.screens.enumerated() {
      // In 40 columns, the second row of this ID would begin with our word.
      let id = String(repeating: "x", count: screen.1) + "from-My-Own-Bank"
      texts.append(("\(number)\(id.suffix(63))", "Pay \(number) Own"))
    }
    await first.stop()
    try await Self.add(texts, first)
    let server = try await first.again()
    let ours = ["| ", "  | ", "  from    shop"]
    try await expectOurs(device.process(["pending"]), ours)
    try await expectOurs(
      device.process(["listen", "--once", "--no-notify"]), ours + ["Listening; Ctrl-C ends it."])
    for (screen, (id, _)) in zip(Self.screens, texts) {
      expectOurs(
        try await rows(on: screen, device.process(["approve", id.text, "--yes"])), ours + Self.approval,
        screen)
    }
    await server.stop()
  }

  /// Adds an authenticator model with a foreign description, as in the vendors' metadata statements.
  private static func addModel(to server: RunningServer) throws {
    let folder = URL(filePath: server.data).appending(path: "metadata")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    var statement = try JSONObject(parsing: Array(Data(contentsOf: #require(files.first))))
    statement["aaid"] = "7357#0001"
    statement["description"] = .string(name)
    try Data(statement.bytes).write(to: folder.appending(path: "other.json"))
  }

  /// The first object in a member.
  private static func first(_ name: String, in object: JSONObject) throws -> JSONObject {
    guard case .object(let first)? = try object.array(name).first else {
      throw JSONFailure.missingMember(name)
    }
    return first
  }

  @Test(
    "a UAF server's tokens, texts and lists never reach the first column")
  func uaf() async throws {
    var party = try await UAFParty.start()
    let served = party.server
    try await party.replace(served.restarted { _ in try Self.addModel(to: served) })
    var device = party.device()
    let link = try await party.link("registration", ["username": "alice"])
    let made = try await device.run(
      ["uaf", "oob", "run", link, "-a", "pin", "--device-name", "\u{1100}\(Self.madeUp)"] + party.words,
      passwords: ["271828"])
    try #require(made.status == 0, made.summary)
    let file = try party.server.write("271828", to: "pin")
    device.launcher = ["/bin/sh", "-c", #"exec "$@" < "$0""#, file]
    for (screen, rows) in try await shown(
      device.process(["uaf", "authenticate", "alice", "--password-fd", "0"] + party.words))
    {
      #expect(rows.joined().contains("Authenticated."), "\(rows)")
      for row in rows where !row.isEmpty {
        #expect(["| ", "  ", "Authenticated."].contains { row.hasPrefix($0) }, "\(screen): \(row)")
      }
    }

    device.launcher = []
    let text =
      String(repeating: "x", count: 36) + " " + Self.madeUp + String(repeating: "y", count: 79) + Self.madeUp
    let target = try await Self.first("dispatchTargets", in: device.json("uaf", "device", "show"))
    let (message, _) = try await party.dispatch(
      "authentication", to: target.string("id"), ["username": "alice", "transaction": .string(text)])
    let waiting = try party.server.write(message, to: "message.link")
    let ours = ["| ", "  | ", "authentication at ", "  says ", "  encrypted for", "  not encrypted"]
    for words in [["uaf", "oob", "decode", waiting], ["uaf", "pending"]] {
      for (screen, rows) in try await shown(device.process(words + party.words)) {
        #expect(!rows.isEmpty)
        for row in rows where !row.isEmpty {
          #expect(ours.contains { row.hasPrefix($0) }, "\(screen), \(words): \(row)")
        }
      }
    }
    device.launcher = ["/bin/sh", "-c", #"exec "$@" < "$0""#, file]
    expectOurs(
      try await rows(
        on: Self.narrow, device.process(["uaf", "oob", "run", waiting, "--password-fd", "0"] + party.words)),
      ["You are about to confirm:", "  | ", "  – ", "| ", "Authenticated."], Self.narrow)

    device.launcher = []
    try await expectOursInUAFLists(device, party)
    await party.server.stop()
  }

  /// Registers a second user on a device, and checks the lists of both programs.
  private func expectOursInUAFLists(_ device: InstalledSignet, _ party: UAFParty) async throws {
    let server = party.server
    try await server.addUser(Self.name)
    let link = try await party.link("registration", ["username": .string(Self.name)])
    let made = try await device.run(
      ["uaf", "oob", "run", link, "-a", "pin"] + party.words, passwords: ["271828"])
    try #require(made.status == 0, made.summary)
    let lists = try ["credentials", "targets", "metadata"].map {
      try ServerCommand.process(["uaf", $0, "--data", server.data])
    }
    ServerTextUse.expectAll(of: .uaf, in: lists.map(\.line))
    try await expectOurs(
      ofEach: [["list"], ["device", "show"]].map { try device.process(["uaf"] + $0) } + lists,
      Self.list + ["This device: ", "Facet id: ", "name  ", "device id ", "pushes  ", "target  "], server,
      on: [Self.narrow])
    // The server removes the device's target for this user, so that both sides differ.
    let target = try await Self.first("targets", in: server.json("uaf", "targets", "--user", Self.name))
    let removed = try await server.run("uaf", "remove-target", target.string("id"))
    #expect(removed.status == 0, removed.summary)
    try await expectOurs(
      device.process(["uaf", "device", "check"] + party.words), ["| ", "  | "], on: [Self.narrow])
  }

  /// A hostile name that fills a row of 40 columns and a part of the next.
  private static let name = String(repeating: "\u{1100}", count: 18) + " from My Own Bank"

  /// A hostile text for reasons.
  private static let reason = String(repeating: "\u{1100}", count: 30) + " " + madeUp

  @Test("foreign names and texts never reach the first column of prompts and lists")
  func prompts() async throws {
    let server = try await RunningServer.startWithShop(["--minimum-length", "8"])
    let device = server.device()
    let password = "winter-garden-42"
    _ = try await device.json("activate", "--code-file", server.codeFile(Self.name), passwords: [password])
    try await expectOurs(device.process(["otp"]), ["Password ", "| ", "  | "], endedAt: "127.0")
    for _ in 0..<2 { _ = try await server.ask(Self.name, Self.hostile("\u{1100}")) }
    let ours = ["  from    ", "  | "]
    try await expectOurs(
      device.process(["approve"]), ours + ["1  until", "2  until", "Which one?"], endedAt: "[1-2]")
    try await expectOurs(
      device.process(["listen", "--once", "--no-notify"]), ours + ["| ", "Listening; Ctrl-C ends it."])
    let container = try #require(try await server.activeContainers(Self.name).first)
    let locked = try await server.run(
      "container", "lock", container, "--reason", Self.reason)
    #expect(locked.status == 0, locked.summary)
    #expect(try await device.run("pending").status == 0)
    try await expectOurs(
      device.process(["condition", "show"]), ["Policies: ", "Broken: ", "| ", "  | "])
    let accounts = InstalledSignet(data: server.folder.file("accounts"))
    let label = try #require(Self.name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    _ = try await accounts.json(
      "import", "otpauth://totp/Bank:\(label)?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Bank")
    // Tables, like the server's lists, and the doctor's findings.
    try await expectOurs(
      ofEach: [
        device.process(["list"]), accounts.process(["account", "list"]), device.process(["doctor"]),
      ],
      Self.list
        + [
          "ok  ", "note  ", "PROBLEM", "        -> ", "Something needs doing.", "    “signet”, so nothing",
          "    service “signet”, so nothing",
          "    signet ", "    --container ",
        ], server,
      on: [Self.narrow])
    await server.stop()
  }

  /// A client's JWK Set with hostile lines as the name of its key.
  private static var keys: JSONObject {
    let point = P256.Signing.PrivateKey().publicKey.x963Representation
    let key: JSONObject = [
      "kty": "EC", "crv": "P-256", "kid": .string(hostile("\u{1100}")),
      "x": .string(Base64URL.encode(Array(point[1..<33]))),
      "y": .string(Base64URL.encode(Array(point[33...]))),
    ]
    return ["keys": [.object(key)]]
  }

  /// Ends transactions in several ways, each with a hostile text, and leaves a pending one.
  ///
  /// - Returns: An approved transaction, one that its relying party has withdrawn, and one that its user has cancelled.
  private static func endTransactions(
    _ device: InstalledSignet, _ server: RunningServer
  ) async throws -> (approved: String, others: [String]) {
    let text = hostile("\u{1100}")
    let approved = try await server.ask(name, text)
    _ = try await device.json("approve", approved, "--yes")
    _ = try await device.json("initiate", text, "--yes")
    _ = try await server.ask(name, text)
    let withdrawn = try await server.ask(name, "Pay 1")
    _ = try await server.json(
      "transaction", "withdraw", withdrawn, "--reason", reason, "--key-file", server.shopKey)
    let cancelled = try await server.ask(name, "Pay 2")
    _ = try await device.json("cancel", cancelled, "--message", reason)
    return (approved, [withdrawn, cancelled])
  }

  /// The commands of a relying party: single transactions, texts that a user has signed unasked, and a verified decision.
  private static func partyCommands(
    _ ended: (approved: String, others: [String]), _ server: RunningServer
  ) async throws -> [ChildCommand] {
    let answer = try await server.transaction(ended.approved)
    let verify = [
      "transaction", "verify", try server.write(answer.text, to: "answer.json"), "--public-key",
      try server.write(answer.object("decision").string("publicKeyPEM"), to: "user.pem"), "--content",
      try server.write(answer.string("content"), to: "content.txt"),
    ]
    let shown = [["initiated", name]] + ([ended.approved] + ended.others).map { ["show", $0] }
    return try [ServerCommand.process(verify)]
      + shown.map {
        try ServerCommand.process(
          ["transaction"] + $0 + ["--data", server.data, "--key-file", server.shopKey])
      }
  }

  /// All lists and views of the server that have a text of other parties (`ServerTextUse`).
  @Test("foreign names and texts never reach the first column of the server's lists")
  func serverLists() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    try await server.addUser(Self.name)
    _ = try await server.json("user", "rename", Self.name, Self.name)
    let code = try server.write(await server.invite(Self.name).text, to: "code")
    let device = server.device()
    _ = try await device.json("activate", "--code-file", code, "--device-name", "\u{1100}\(Self.madeUp)")
    let ended = try await Self.endTransactions(device, server)
    let client = try await server.json(
      "client", "add", Self.name, "--authentication", "client_secret_basic", "--output",
      server.folder.file("secret"), "--jwks", server.write(Self.keys.text, to: "client.jwks"), "--delivery",
      "ping", "--notification-endpoint",
      "https://bank.example/" + String(repeating: "x", count: 40) + "from-My-Own-Bank")
    let id = try client.string("id")
    _ = try await server.json("key", "create", Self.name, "--output", server.folder.file("named.key"))
    let serial = String(repeating: "x", count: 38) + "from-My-Own-Bank"
    let token: JSONObject = [
      "serial": .string(serial), "kind": "hotp",
      "secret": .string(Base64URL.encode([UInt8](repeating: 1, count: 20))), "user": .string(Self.name),
    ]
    _ = try await APIClient(server).json(.post, "admin/tokens", ["tokens": [.object(token)]])
    let invited = try await server.json("app", "invite", Self.name, "--issuer", "Bank")
    let app = try PythonPeer(
      "authenticator_app.py", ["authority": .string(server.authority), "deviceName": .string(Self.name)])
    #expect(try app("enrol", .string(invited.string("uri")))["status"] == 200)
    let fields = [
      "User", "Subject", "State", "Since", "Added", "Client", "Name", "Authentication", "Delivery", "Told at",
      "Key", "Created", "Container", "Device", "Platform", "Keystore", "Signing key", "Renewals", "Standing",
      "Because", "Policies", "Reported", "Waits for", "Transaction", "Content", "Status", "Expires",
      "Requires",
      "Decided", "Ended", "Reason", "Message", "Verified", "Proves", "Server", "Signed",
    ]
    let beginnings = Self.list + fields + ["disabled ", "revoked "]
    func commands(_ words: [[String]]) throws -> [ChildCommand] {
      try words.map { try ServerCommand.process($0 + ["--data", server.data]) }
    }
    // Each prints a `TextTable` or fields: the first command covers a table on each screen, the second several next to fields.
    let first = try commands([["transaction", "list"], ["user", "show", Self.name]])
    try await expectOurs(ofEach: first, beginnings, server)
    // The reason for a lock, which the device shows its user.
    let container = try #require(try await server.activeContainers(Self.name).first)
    _ = try await server.json("container", "lock", container, "--reason", Self.reason)
    let others = try commands([
      ["audit", "list"], ["client", "list"], ["client", "show", id], ["key", "list"],
      ["app", "list", Self.name], ["user", "list"], ["user", "show", Self.name],
      ["device", "list", Self.name], ["container", "list", Self.name], ["container", "show", container],
      ["container", "account", container], ["token", "list"],
    ])
    let party = try await Self.partyCommands(ended, server)
    // Last, since they change the output of the others.
    let changes = try commands([["token", "disable", serial], ["container", "revoke", container]])
    ServerTextUse.expectAll(of: .lists, in: (first + others + party + changes).map(\.line))
    try await expectOurs(ofEach: others + party + changes, beginnings, server, on: [Self.narrow])
    await server.stop()
  }

  @Test("text to be copied is shown whole and without a bar")
  func copied() async throws {
    let server = try await RunningServer.start()
    let pin = try await server.json("certificate", "show").string("pin")
    let command = try ServerCommand.process(["certificate", "show", "--data", server.data])
    ServerTextUse.expectAll(of: .copied, in: [command.line])
    for (screen, rows) in try await shown(command) {
      #expect(rows.joined().contains(pin), "\(screen): \(rows)")
    }
    await server.stop()
  }

  @Test("push messages, server errors and lists never reach the first column")
  func messages() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["limits"] = ["pendingTransactions": 20, "challenges": 20]
    }
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let picture = server.folder.file("invite.png")
    _ = try await server.json("app", "invite", "alice", "--issuer", "Bank", "--png", picture)
    _ = try await device.json("scan", picture, "--push-token", "x", "--push-service", "webhook")
    // An app has at most ten pending messages.
    let characters = Self.doubtful.filter { !["é", "Ж", "送"].contains($0) }
    var files: [String] = []
    for (number, character) in characters.enumerated() {
      let text =
        String(repeating: character, count: 38) + Self.madeUp + String(repeating: character, count: 70)
        + Self.madeUp
      let asked = try await server.json("message", "create", "alice", text, "--key-file", server.shopKey)
      files.append(try server.write(try asked.object("push").text, to: "push\(number)"))
      _ = try await device.run("message", "receive", files[number])
    }
    // All of them on one screen, one command after the other; the list below prints the same rows on each screen.
    var receiving = try device.process(["message", "receive"])
    receiving.line =
      ["/bin/sh", "-c", #"for file in $files; do "$@" "$file"; done"#, "sh"] + receiving.line
    receiving.environment["files"] = files.joined(separator: " ")
    let ours = ["Received before.", "Message ", "  from    Bank", "  | "]
    let received = try await rows(on: Self.narrow, receiving).parts { $0.hasPrefix("Received before.") }
    #expect(received.count == characters.count, "\(received)")
    for (part, character) in zip(received, characters) { expectOurs(part, ours, Self.narrow, of: character) }
    // The list has another order.
    for (screen, rows) in try await shown(device.process(["message", "list"])) {
      let listed = rows.parts { $0.hasPrefix("Message ") }
      #expect(listed.count == characters.count, "\(screen): \(listed)")
      let isWhole = listed.map { $0.joined().contains("Own") }
      #expect(isWhole.count { !$0 } <= 1, "\(screen): \(listed)")
      for (part, isWhole) in zip(listed, isWhole) {
        expectOurs(part, ours, screen, of: isWhole ? "" : Self.spacing)
      }
    }

    // The operator sees the device's name.
    let name = String(repeating: "x", count: 20) + String(repeating: " ", count: 16) + Self.madeUp
    let other = server.device("other")
    _ = try await other.json("activate", "--code-file", server.codeFile("bob"), "--device-name", name)
    try await expectOurs(
      ServerCommand.process(["container", "list", "bob", "--data", server.data]), Self.list)
    await server.stop()

    let fake = try await FakeServer(.hostileText, certificateOf: server, port: server.port)
    try await expectOurs(device.process(["pending"]), ["signet pending: ", "  | "])
    try fake.stop()
  }
}

extension [String] {
  /// Splits the rows into parts that begin with a row of a kind; the rows before the first are a part as well.
  fileprivate func parts(_ isFirst: (String) -> Bool) -> [[String]] {
    reduce(into: [[String]]()) { parts, row in
      if parts.isEmpty || isFirst(row) { parts.append([]) }
      parts[parts.count - 1].append(row)
    }
  }
}

private enum Screens {
  static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  static let isWanted =
    ContinuousIntegration.isHere
    || python != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux")
}

extension JSONValue {
  fileprivate var texts: [String] {
    guard case .array(let values) = self else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}
