import CEmptyServer
import Foundation
import SignetCrypto
import SignetHTTPServer

/// Servers with empty answers to show the cost of TLS and HTTP: libmicrohttpd in C, and SignetHTTPServer over it.
enum EmptyServer {
  static let verb = "serve-nothing"

  /// Serves until standard input ends: `serve-nothing c|swift` prints `PORT`, and then its CPU time for each line.
  static func serve(_ arguments: [String]) async throws {
    let authority = try CertificateAuthority(commonName: "Signet benchmark CA")
    let certificate = try authority.issueServerCertificate(
      dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    let key = certificate.privateKeyPEM.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
    guard arguments == ["swift"] else {
      let port = unsafe empty_server_start(certificate.certificatePEM, key, TLSIdentity.priorities)
      guard port > 0 else { throw BenchmarkFailure(description: "libmicrohttpd did not start") }
      return tell(port)
    }
    let identity = try TLSIdentity(
      certificateChainPEM: certificate.certificatePEM, privateKeyPEM: Array(key.utf8))
    let server = try HTTPServer(HTTPServerConfiguration(security: .tls(identity))) { _ in
      ServerResponse(status: 200)
    }
    tell(try server.start())
    await server.stop(grace: .zero)
  }

  private static func tell(_ port: UInt16) {
    ServerProcess.say(String(port))
    while readLine() != nil { ServerProcess.say(String(Clocks.processCPU)) }
  }
}
