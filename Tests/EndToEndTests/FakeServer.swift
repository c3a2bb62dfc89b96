import Foundation
import SignetTestKit
import Testing

/// Something that listens where a Signet server should, and behaves badly.
final class FakeServer: Sendable {
  /// What it does with each connection.
  enum Behaviour: String, Sendable, CaseIterable {
    /// Not TLS.
    case noise
    /// TLS, then not HTTP.
    case noHTTP
    /// HTTP, then not JSON.
    case noJSON
    /// A web page with the status of a refusal.
    case webPage
    /// A proxy whose server is away.
    case badGateway
    /// Half of the body that it promised.
    case halfBody
    /// The address of another server.
    case redirect
    /// A body without end.
    case endless
    /// Takes the connection and says nothing.
    case silent
    /// Takes the request and says nothing.
    case silentAfterTLS
    /// Hangs up.
    case hangUp
    /// A refusal that says what one of ours says, at the columns where a row may begin.
    case hostileText
  }

  /// Where the programs that play it are missing, tests are skipped, but not in CI.
  static let canRun: Bool =
    ContinuousIntegration.isHere
    || FileManager.default.isExecutableFile(atPath: python)
  private static let python = "/usr/bin/python3"

  /// The shortest server that can do all this; it ends when its input does, and after five minutes.
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

  /// Listens, with the certificate of a server's folder.
  ///
  /// `port` is where; anywhere unless told.
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

  /// Ends it, so that its port is free again.
  func stop() throws {
    try process.input.close()
    try process.end()
  }
}
