import BusFixture
import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet listen`: transactions as they arrive.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListenCommandTests {
  @Test("shows a transaction that arrives while it listens, and ends after it if required")
  func once() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    var command = try device.process(["listen", "--once", "--json"])
    command.errorOutput = .pipe
    let process = try command.start()
    #expect(await process.errorOutput.firstLine() == "Listening; Ctrl-C ends it.")
    // Its request is at the server and nothing is pending yet, so nothing can be shown before this transaction.
    let id = try await server.ask("alice", "Pay 1 EUR")
    #expect(try await process.end() == 0)
    let text = process.outputSoFar
    let lines = text.split(separator: "\n")
    #expect(lines.count == 1, "\(text)")
    let object = try JSONObject(parsing: Array(lines.first.map(String.init)?.utf8 ?? "".utf8))
    #expect(try object.string("id") == id && object.string("content").contains("Pay 1 EUR"))
    // A pending transaction is shown at once.
    let again = try await device.run("listen", "--once")
    #expect(again.status == 0 && again.output.contains("  | Pay 1 EUR\n"), again.summary)
    await server.stop()
  }

  @Test("with --once shows pending requests, and ends with 75 if none arrives within --timeout")
  func timeout() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let none = try await device.run("listen", "--once", "--timeout", "1s")
    #expect(none.isRefusal(75, "signet: nothing came within 1 s\n"), none.summary)
    _ = try await server.ask("alice", "Pay 1 EUR")
    let shown = try await device.run("listen", "--once", "--timeout", "1m")
    #expect(shown.status == 0 && shown.output.contains("  | Pay 1 EUR\n"), shown.summary)
    await server.stop()
  }

  @Test("desktop notifications name the server, not the content; --no-notify suppresses them")
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
    // A text that is crafted for notifications is not shown either.
    _ = try await server.ask("alice", "<b>Own</b> <a href='https://example.org/'>& Bank</a> \u{1100}")
    #expect(try await device.run("listen", "--once").status == 0)
    let hostile = try #require(desktop.lines.last)
    #expect(desktop.lines.count > 1 && hostile.contains("127.0.0.1"), "\(desktop.lines)")
    for part in ["Own", "Bank", "<", "href", "\u{1100}"] { #expect(!hostile.contains(part), "\(hostile)") }
    // A failure of the desktop's service does not affect the output.
    desktop.kill()
    let alone = try await device.run("listen", "--once")
    #expect(alone.status == 0 && alone.output.contains("Pay 1 EUR"), alone.summary)
    #expect(alone.errorOutput.contains("no notifications on the desktop"), alone.summary)
    // Without a bus in the environment there is no warning.
    device.sessionBus = nil
    var login = try device.process(["listen", "--once"])
    login.environment["XDG_RUNTIME_DIR"] = server.folder.path
    let unseen = try await login.finish()
    #expect(unseen.status == 0 && unseen.errorOutput == "Listening; Ctrl-C ends it.\n", unseen.summary)
    await server.stop()
  }

  @Test("reports once that the server does not answer, and once that it does again")
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
    try await Self.expectWaitedOut(device, server, showing: "  | Pay 1 EUR\n") {
      _ = try await $0.ask("alice", "Pay 1 EUR")
    }
  }

  /// Lets a device listen while a proxy answers that its server is unreachable, and expects a later request once the server is
  /// back.
  static func expectWaitedOut(
    _ device: InstalledSignet, _ server: RunningServer, showing text: String,
    _ ask: (RunningServer) async throws -> Void
  ) async throws {
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
    try await ask(again)
    #expect(try await process.end() == 0)
    #expect(process.outputSoFar.contains(text), "\(process.outputSoFar)")
    await again.stop()
  }

  /// A TLS proxy in front of a server: after the order `away`, it answers 502, also to requests that wait for an answer.
  private static let proxyScript = #"""
    import os, select, signal, socket, ssl, sys, threading
    signal.alarm(300)
    port, upstream, certificate, key = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    client = ssl.create_default_context()
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    answer = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<html></html>"
    listener = socket.create_server(("127.0.0.1", port))
    away, wakers = threading.Event(), []
    def serve(raw):
        server = None
        try:
            stream = context.wrap_socket(raw, server_side=True)
            wake, waker = os.pipe()
            wakers.append(waker)
            if not away.is_set():
                server = client.wrap_socket(socket.create_connection(("127.0.0.1", upstream)))
            while True:
                ready = [one for one in (stream, server) if one and one.pending()]
                if not ready:
                    ready = select.select([one for one in (stream, server, wake) if one is not None], [], [])[0]
                if wake in ready and away.is_set() or server is None:
                    if server is None: stream.recv(65536)
                    stream.sendall(answer)
                    break
                for one in ready:
                    if one is wake: os.read(wake, 1)
                    else:
                        part = one.recv(65536)
                        if not part: return
                        (server if one is stream else stream).sendall(part)
        except OSError: pass
        finally:
            for one in (server, raw):
                if one: one.close()
            try: stream.close()
            except (NameError, OSError): pass
    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "away\n":
            away.set()
            for waker in wakers: os.write(waker, b"x")
        else:
            away.clear()
        print(line.strip(), flush=True)
    """#

  @Test(
    "continues after a proxy's 502, and shows nothing twice",
    .enabled(if: FakeServer.canRun, "needs Python 3"))
  func proxyInTheMiddle() async throws {
    let first = try await RunningServer.startWithShop(["--protection", "device"])
    let device = first.device()
    _ = try await device.json("activate", "--code-file", first.codeFile("alice"))
    await first.stop()
    let upstream = try FreePort.find()
    let server = try await RunningServer(first.folder, first.port, ["--listen", "127.0.0.1:\(upstream)"])
    let proxy = try ChildCommand(
      [
        "/usr/bin/python3", "-c", Self.proxyScript, "\(first.port)", "\(upstream)", "\(server.data)/tls.pem",
        "\(server.data)/tls.key",
      ], input: .pipe, output: .pipe
    ).start()
    defer { proxy.send(SIGTERM) }
    #expect(await proxy.output.firstLine() == "ready")

    var command = try device.process(["listen", "--json"])
    (command.output, command.errorOutput) = (.pipe, .pipe)
    let process = try command.start()
    defer { process.send(SIGTERM) }
    func shown() async throws -> String {
      try JSONObject(parsing: Array(#require(await process.output.firstLine()).utf8)).string("id")
    }
    #expect(await process.errorOutput.firstLine() == "Listening; Ctrl-C ends it.")
    let one = try await server.ask("alice", "Pay 1 EUR")
    #expect(try await shown() == one)
    for (number, word) in ["2", "3"].enumerated() {
      try proxy.input.write(contentsOf: Data("away\n".utf8))
      #expect(await proxy.output.firstLine() == "away")
      let gone = try #require(await process.errorOutput.firstLine())
      #expect(
        gone.contains("502") && gone.hasSuffix("it is tried again until it answers"), "\(number): \(gone)")
      try proxy.input.write(contentsOf: Data("back\n".utf8))
      #expect(await proxy.output.firstLine() == "back")
      #expect(await process.errorOutput.firstLine() == "signet: the server answers again")
      let next = try await server.ask("alice", "Pay \(word) EUR")
      #expect(try await shown() == next)
    }
    process.send(SIGTERM)
    _ = await process.status()
    await server.stop()
  }

  @Test("ends when its user is deleted, without announcing a retry")
  func deleted() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    var command = try device.process(["listen", "--no-notify"])
    command.errorOutput = .pipe
    let process = try command.start()
    defer { process.send(SIGTERM) }
    let lines = process.errorOutput
    #expect(await lines.firstLine() == "Listening; Ctrl-C ends it.")
    _ = try await server.json("user", "delete", "alice")
    let said = try #require(await lines.firstLine())
    #expect(said.hasSuffix("the server does not know this container any more; activate again"), "\(said)")
    #expect(try await process.end() != 0)
    await server.stop()
  }

  @Test("reports a user's suspension, and continues once the user is resumed")
  func suspended() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    for user in ["alice", "bob"] {
      _ = try await device.json("activate", "--code-file", server.codeFile(user))
    }
    var command = try device.process(["listen", "--once", "--no-notify"])
    command.errorOutput = .pipe
    let process = try command.start()
    defer { process.send(SIGTERM) }
    let lines = process.errorOutput
    #expect(await lines.firstLine() == "Listening; Ctrl-C ends it.")
    _ = try await server.json("user", "suspend", "alice", "--reason", "on leave")
    let held = try #require(await lines.firstLine())
    #expect(held.contains("alice") && held.contains("an operator can resume it; the server is"), "\(held)")
    #expect(held.hasSuffix("is asked again until that changes"), "\(held)")
    _ = try await server.json("user", "resume", "alice")
    let again = try #require(await lines.firstLine())
    #expect(
      again.contains("alice") && again.hasSuffix(": the suspension or the lock has ended"), "\(again)")
    _ = try await server.ask("alice", "Pay 1 EUR")
    #expect(try await process.end() == 0)
    #expect(process.outputSoFar.contains("  | Pay 1 EUR\n"), "\(process.outputSoFar)")
    await server.stop()
  }

  @Test("ends with the reason if the server no longer knows the container")
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
