import BusFixture
import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet listen`: transactions as they come.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListenCommandTests {
  @Test("shows a transaction that comes after it began to listen, and ends with it where that is wanted")
  func once() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    var command = try device.process(["listen", "--once", "--json"])
    command.errorOutput = .pipe
    let process = try command.start()
    #expect(await process.errorOutput.firstLine() == "Listening; Ctrl-C ends it.")
    // Its request is open at the server: nothing waits yet, so nothing is shown before this is asked.
    let id = try await server.ask("alice", "Pay 1 EUR")
    #expect(try await process.end() == 0)
    let text = process.outputSoFar
    let lines = text.split(separator: "\n")
    #expect(lines.count == 1, "\(text)")
    let object = try JSONObject(parsing: Array(lines.first.map(String.init)?.utf8 ?? "".utf8))
    #expect(try object.string("id") == id && object.string("content").contains("Pay 1 EUR"))
    // What waits already is shown at once.
    let again = try await device.run("listen", "--once")
    #expect(again.status == 0 && again.output.contains("  | Pay 1 EUR\n"), again.summary)
    await server.stop()
  }

  @Test("says on the desktop that something waits and where, never what; and nothing with --no-notify")
  func desktop() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let desktop = try await NotificationFixture()
    var device = server.device()
    device.sessionBus = desktop.bus.address
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    _ = try await server.ask("alice", "Pay 1 EUR")
    let quiet = try await device.run("listen", "--once", "--no-notify")
    #expect(quiet.status == 0 && desktop.lines.isEmpty, quiet.summary)
    let result = try await device.run("listen", "--once")
    #expect(result.status == 0 && result.output.contains("Pay 1 EUR"), result.summary)
    let line = try #require(desktop.lines.first)
    #expect(line.contains("Signet: A request waits") && line.contains("127.0.0.1"), "\(line)")
    #expect(!line.contains("https:"), "\(line)")
    #expect(!line.contains("Pay") && !line.contains("alice") && !line.contains("Shop"), "\(line)")
    // A desktop that is gone keeps nothing from being shown here.
    desktop.kill()
    let alone = try await device.run("listen", "--once")
    #expect(alone.status == 0 && alone.output.contains("Pay 1 EUR"), alone.summary)
    #expect(alone.errorOutput.contains("no notifications on the desktop"), alone.summary)
    // Where nobody has said that there is one, there is nothing to be said.
    device.sessionBus = nil
    var login = try device.process(["listen", "--once"])
    login.environment["XDG_RUNTIME_DIR"] = server.folder.path
    let unseen = try await login.finish()
    #expect(unseen.status == 0 && unseen.errorOutput == "Listening; Ctrl-C ends it.\n", unseen.summary)
    await server.stop()
  }

  @Test("says once that the server does not answer, and when it does again")
  func gone() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    var command = try device.process(["listen", "--once"])
    command.errorOutput = .pipe
    let process = try command.start()
    defer { process.send(SIGTERM) }
    let lines = process.errorOutput
    #expect(await lines.firstLine() == "Listening; Ctrl-C ends it.")
    await server.stop()
    let gone = try #require(await lines.firstLine())
    #expect(gone.hasPrefix("signet: the server at 127.0.0.1:\(server.port)"), "\(gone)")
    #expect(gone.hasSuffix("it is tried again until it answers"), "\(gone)")
    let again = try await server.again()
    #expect(await lines.firstLine() == "signet: the server answers again")
    _ = try await again.ask("alice", "Pay 1 EUR")
    #expect(try await process.end() == 0)
    #expect(process.outputSoFar.contains("  | Pay 1 EUR\n"))
    await again.stop()
  }

  @Test("waits while a proxy says that its server is away", .enabled(if: FakeServer.canRun, "needs Python 3"))
  func proxy() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    await server.stop()
    let proxy = try await FakeServer(.badGateway, certificateOf: server, port: server.port)
    var command = try device.process(["listen", "--once"])
    command.errorOutput = .pipe
    let process = try command.start()
    defer { process.send(SIGTERM) }
    let lines = process.errorOutput
    #expect(await lines.firstLine() == "Listening; Ctrl-C ends it.")
    let gone = try #require(await lines.firstLine())
    #expect(gone.contains("502") && gone.hasSuffix("it is tried again until it answers"), "\(gone)")
    try proxy.stop()
    let again = try await server.again()
    #expect(await lines.firstLine() == "signet: the server answers again")
    _ = try await again.ask("alice", "Pay 1 EUR")
    #expect(try await process.end() == 0)
    #expect(process.outputSoFar.contains("  | Pay 1 EUR\n"))
    await again.stop()
  }

  @Test("ends with the reason where the server does not know the container any more")
  func revoked() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let container = try #require(try await server.activeContainers("alice").first)
    #expect(try await server.run("container", "revoke", container).status == 0)
    let result = try await device.run("listen")
    #expect(
      result.status == 76 && result.errorOutput.contains("does not know this container"), result.summary)
    await server.stop()
  }
}
