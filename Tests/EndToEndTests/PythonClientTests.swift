import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// `Tests/Interop/client.py`, written from `docs/protocol.md` alone, with a real server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PythonClientTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Interop/client.py").standardized.path

  /// Indicates whether the tests run; without the interpreter and its modules they are skipped, but fail in CI.
  static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    guard let python else { return false }
    let program = "import argon2.low_level, cryptography"
    do { return try ChildCommand([python, "-c", program]).finish().status == 0 } catch { return false }
  }()

  private func client(_ server: RunningServer, _ words: String...) async throws -> ServerCommand.Result {
    let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    let line = [python, Self.script, "--ca", server.authority, "--state", "\(server.folder.path)/state.json"]
    return try await ChildCommand(line + words, environment: ServerCommand.cleanEnvironment).finish()
  }

  private func json(_ result: ServerCommand.Result) throws -> JSONObject {
    try #require(result.status == 0, result.summary)
    return try JSONObject(parsing: Array(result.output.utf8))
  }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func aClientFromThePageAloneWorks() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let code = try await server.codeFile("zoë")
    let activated = try json(await client(server, "activate", code))
    #expect(try activated.string("status") == "active")
    #expect(try await server.activeContainers("zoë") == [activated.string("container")])

    let otp = try json(await client(server, "otp")).string("code")
    #expect(try await server.accepts(otp, of: "zoë"))
    #expect(try await !server.accepts(otp, of: "zoë"))

    let text = "Pay 250.00 € to Jane Doe\nReference: “winter” \u{1F332}"
    let id = try await server.ask("zoë", text)
    let pending = try json(await client(server, "pending")).array("transactions")
    #expect(pending.count == 1)
    guard case .object(let waiting)? = pending.first else { throw JSONFailure.notAnObject }
    #expect(try waiting.string("id") == id)
    #expect(
      try waiting.string("content")
        == TransactionContent(.text(text), from: .relyingParty("shop")).json)
    #expect(try json(await client(server, "decide", id, "accepted")).string("status") == "accepted")
    try SignedDecisionCheck.expectAccepted(await server.transaction(id))
    #expect(try json(await client(server, "pending")).array("transactions").isEmpty)

    let other = try await server.ask("zoë", "Pay nobody")
    #expect(try json(await client(server, "decide", other, "denied")).string("status") == "denied")
    #expect(try await server.transaction(other).string("status") == "denied")
    await server.stop()
  }

  /// All other parts of the document that concern a device.
  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func allOfThePageWorks() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    _ = try await json(client(server, "activate", server.codeFile("alice")))
    func status(_ id: String) async throws -> String { try await server.transaction(id).string("status") }

    // Section 5.6: the answer comes with the transaction, or at once if that was first.
    async let waiting = client(server, "wait")
    let cancelled = try await server.ask("alice", "Pay 1 EUR")
    _ = try await json(waiting)
    #expect(try await json(client(server, "cancel", cancelled)).string("status") == "cancelled")
    #expect(try await status(cancelled) == "cancelled")

    // Sections 5.5 and 5.2: the server signs with another key, and a number is typed.
    _ = try await server.json("signing-key", "rotate")
    let asked = try await server.json(
      "transaction", "create", "alice", "Pay 2 EUR", "--number", "4", "--key-file", server.shopKey)
    let numbered = try asked.string("id")
    _ = try await json(client(server, "decide", numbered, "accepted", asked.string("number")))
    try SignedDecisionCheck.expectAccepted(await server.transaction(numbered))

    // Sections 5.7 to 5.9.
    let offer = try await server.json("transaction", "offer", "Sign in", "--key-file", server.shopKey)
    _ = try await json(client(server, "scanned", offer.string("link"), "accepted"))
    #expect(try await server.transaction(offer.string("id")).string("user") == "alice")
    let initiated = try await json(client(server, "initiate", "Block my card, “now”"))
    #expect(try await status(initiated.string("id")) == "accepted")
    let carried = try await server.ask("alice", "Pay 3 EUR")
    let text = try await server.json("transaction", "offline", carried, "--key-file", server.shopKey)
    let shown = try await json(
      client(server, "offline", server.write(text.string("text"), to: "offline.txt")))
    _ = try await server.json(
      "transaction", "answer", carried, shown.string("answer"), "--key-file", server.shopKey)
    #expect(try await status(carried) == "accepted")

    // Section 5.10.
    let form = try server.write(
      #"{"template":"payment","fields":[{"type":"amount","value":"7.50","currency":"EUR"},{"type":"payee","name":"Jane Doe"}]}"#,
      to: "form.json")
    let typed = try await server.json(
      "transaction", "create", "alice", "--form", form, "--typed", "--typed-field", "0", "--typed-field", "1",
      "--key-file", server.shopKey
    ).string("id")
    let challenge = try await server.json("transaction", "typed", typed, "--key-file", server.shopKey)
    let computed = try await json(
      client(server, "typed", challenge.string("challenge"), "7,50 eur", "Jane Doe"))
    _ = try await server.json(
      "transaction", "answer", typed, computed.string("answer"), "--typed", "--key-file", server.shopKey)
    #expect(try await status(typed) == "accepted")

    // Sections 3.5 and 3.6.
    let before = try await server.activeContainers("alice")
    let renewed = try await json(client(server, "renew")).string("container")
    #expect(try await server.activeContainers("alice") == [renewed] && before != [renewed])
    let denied = try await server.ask("alice", "Pay 4 EUR")
    _ = try await json(client(server, "decide", denied, "denied"))
    #expect(try await status(denied) == "denied")
    #expect(try await server.accepts(json(client(server, "otp")).string("code"), of: "alice"))
    #expect(try await json(client(server, "end")).string("status") == "ended")
    #expect(try await server.activeContainers("alice").isEmpty)
    await server.stop()
  }

  /// An impostor's claim, the rejecting endpoint, and the event.
  private static let impostors = [
    ("signing", "/activation/finish", "activation.refused"),
    ("without", "/activation/finish", "request.malformed"),
    ("encryption", "/activation/finish", "resource.exists"),
    ("session", "/activation/finish", "resource.exists"),
    ("swapped", "/activation/finish", "resource.exists"),
    ("stranger-encryption", "/activation/confirm", "request.unauthorized"),
    ("nothing", "/activation/confirm", "request.unauthorized"),
  ]

  @Test(
    "an impostor with a valid invite cannot register another device's key",
    .enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func impostorsAreRefused() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    _ = try await json(client(server, "activate", server.codeFile("alice")))
    let python = try #require(Self.python, "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    let script = URL(filePath: Self.script).deletingLastPathComponent().appending(path: "impostor.py").path
    func outcomes(_ words: [String]) async throws -> [JSONObject] {
      let line = [
        python, script, "--ca", server.authority, "--victim", "\(server.folder.path)/state.json",
      ]
      let result = try await ChildCommand(line + words, environment: ServerCommand.cleanEnvironment).finish()
      try #require(result.status == 0, result.summary)
      return try result.output.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
    }
    var codes: [String] = []
    for (what, _, _) in Self.impostors { codes.append(try await server.codeFile("mallory-\(what)")) }
    let activations = try await outcomes([Self.impostors.map(\.0).joined(separator: ",")] + codes)
    try #require(activations.count == Self.impostors.count)
    for ((what, request, answer), outcome) in zip(Self.impostors, activations) {
      #expect(try outcome.optionalString("refused") == request, "\(what): \(outcome.text)")
      #expect(try outcome.optionalString("answer")?.contains(answer) == true, "\(what): \(outcome.text)")
    }
    for (what, _, _) in Self.impostors {
      #expect(try await server.activeContainers("mallory-\(what)").isEmpty, "\(what)")
    }

    // The impostor's own container, and another's keys at its renewal.
    let own = "\(server.folder.path)/mallory.json"
    let begun = [
      python, Self.script, "--ca", server.authority, "--state", own, "activate",
      try await server.codeFile("mallory"),
    ]
    _ = try json(await ChildCommand(begun, environment: ServerCommand.cleanEnvironment).finish())
    let stolen = [
      ("signing", "request.unauthorized"), ("encryption", "resource.exists"), ("session", "resource.exists"),
    ]
    let renewals = try await outcomes(["--own", own, stolen.map(\.0).joined(separator: ",")])
    try #require(renewals.count == stolen.count)
    for ((what, answer), outcome) in zip(stolen, renewals) {
      #expect(try outcome.optionalString("refused") == "/renewal/finish", "\(what): \(outcome.text)")
      #expect(try outcome.optionalString("answer")?.contains(answer) == true, "\(what): \(outcome.text)")
    }
    #expect(try await server.activeContainers("mallory").count == 1)
    #expect(try await server.activeContainers("alice").count == 1)
    await server.stop()
  }

  @Test(.enabled(if: isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"))
  func theServerRefusesItAWrongInviteAndItRefusesAWrongPin() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    _ = try await server.codeFile("alice")
    var code = try await server.invite("alice")
    let right = code.invite
    code.invite = InviteCode(random: SystemRandomSource())
    let wrong = try await client(server, "activate", server.write(code.text, to: "wrong"))
    #expect(wrong.status == 1 && wrong.errorOutput.contains("activation.refused"), wrong.summary)
    code.invite = right
    code.pins = [[UInt8](repeating: 7, count: 32)]
    let unpinned = try await client(server, "activate", server.write(code.text, to: "unpinned"))
    #expect(unpinned.status == 1 && unpinned.errorOutput.contains("not pinned"), unpinned.summary)
    #expect(try await server.activeContainers("alice").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: "\(server.folder.path)/state.json"))
    await server.stop()
  }
}
