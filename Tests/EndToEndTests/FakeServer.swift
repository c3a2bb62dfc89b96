import Foundation
import SignetTestKit
import Testing

/// A misbehaving listener in place of a Signet server.
final class FakeServer: Sendable {
  /// The reaction to each connection.
  enum Behaviour: String, Sendable, CaseIterable {
    /// Bytes that are not TLS.
    case noise
    /// TLS, then bytes that are not HTTP.
    case noHTTP
    /// HTTP, then a body that is not JSON.
    case noJSON
    /// A web page with the status of a refusal.
    case webPage
    /// The answer of a proxy whose server is unreachable.
    case badGateway
    /// Half of the announced body.
    case halfBody
    /// A redirect to another server.
    case redirect
    /// An endless body.
    case endless
    /// Accepts the connection and sends nothing.
    case silent
    /// Accepts the request and sends nothing.
    case silentAfterTLS
    /// Closes the connection.
    case hangUp
    /// A refusal with text that imitates our own output at the columns where a row may begin.
    case hostileText
  }

  /// Indicates whether the tests run; without the needed programs they are skipped, but fail in CI.
  static let canRun: Bool =
    ContinuousIntegration.isHere
    || FileManager.default.isExecutableFile(atPath: python)
  private static let python = "/usr/bin/python3"

  /// A minimal server for all behaviors; it ends with its input, or after five minutes.
  private static let script = #"""
    import json, signal, socket, ssl, sys, threading
    signal.alarm(300)
    behaviour, port, certificate, key = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", port))
    def reply(status, fields, body):
        return f"HTTP/1.1 {status}\r\n{fields}\r\n\r\n".encode() + body
    words = "".join("\u1100" * count + "from    My Own Bank AG" for count in (12, 20, 37, 38, 60))
    problem = json.dumps({"type": "urn:signet:problem:request.forbidden", "title": "x", "status": 403, "detail": words}).encode()
    answers = {
        "noHTTP": b"SSH-2.0-OpenSSH_9.2p1\r\n",
        "noJSON": reply("200 OK", "Content-Length: 4", b"\xff\x00{]"),
        "webPage": reply("404 Not Found", "Content-Type: text/html\r\nContent-Length: 13", b"<html></html>"),
        "badGateway": reply("502 Bad Gateway", "Content-Type: text/html\r\nContent-Length: 13", b"<html></html>"),
        "halfBody": reply("200 OK", "Content-Length: 100", b'{"handshake":'),
        "hostileText": reply("403 Forbidden", f"Content-Type: application/problem+json\r\nContent-Length: {len(problem)}", problem),
        "redirect": reply("302 Found", "Location: https://127.0.0.1:1/\r\nContent-Length: 0", b""),
        "endless": reply("200 OK", "Content-Length: 9999999999", b""),
    }
    def serve(raw):
        try:
            if behaviour == "hangUp":
                return raw.close()
            if behaviour == "noise":
                raw.sendall(b"220 mail.example.org ESMTP\r\n")
            if behaviour in ("noise", "silent"):
                while raw.recv(4096): pass
                return raw.close()
            stream = context.wrap_socket(raw, server_side=True)
            stream.recv(65536)
            if behaviour == "silentAfterTLS":
                while stream.recv(4096): pass
                return stream.close()
            stream.sendall(answers[behaviour])
            while behaviour == "endless":
                stream.sendall(b" " * 65536)
            stream.unwrap()
            stream.close()
        except OSError:
            raw.close()
    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    print("listening on", listener.getsockname()[1], flush=True)
    sys.stdin.read()
    """#

  let port: UInt16
  private let process: ChildProcess

  /// Listens with the certificate of a server's folder, on `port` or on a free port.
  init(_ behaviour: Behaviour, certificateOf server: RunningServer, port: UInt16? = nil) async throws {
    let port = try port ?? FreePort.find()
    self.port = port
    process = try ChildCommand(
      [
        Self.python, "-c", Self.script, behaviour.rawValue, String(port), "\(server.data)/tls.pem",
        "\(server.data)/tls.key",
      ], input: .pipe, output: .pipe
    ).start()
    let line = try #require(await process.output.firstLine(), "the fake server did not start")
    #expect(line == "listening on \(port)")
  }

  deinit { process.send(SIGTERM) }

  /// Ends the process, which frees its port.
  func stop() throws {
    try process.input.close()
    try process.end()
  }
}
