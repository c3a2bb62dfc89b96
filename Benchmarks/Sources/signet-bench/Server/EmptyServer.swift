import CEmptyServer
import Foundation
import SignetCrypto
@testable import SignetHTTP

/// libmicrohttpd, set up as SignetHTTP does it, answering nothing at all: what TLS and HTTP take by themselves.
enum EmptyServer {
  static let verb = "serve-nothing"

  /// Serves until standard input ends: says `PORT` and then its CPU time for each line.
  static func serve() throws {
    let authority = try CertificateAuthority(commonName: "Signet benchmark CA")
    let certificate = try authority.issueServerCertificate(
      dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    let key = certificate.privateKeyPEM.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
    let port = unsafe empty_server_start(certificate.certificatePEM, key, TLSIdentity.priorities)
    guard port > 0 else { throw LineProcess.Failure(description: "libmicrohttpd did not start") }
    ServerProcess.say(String(port))
    while readLine() != nil { ServerProcess.say(String(Clocks.processCPU)) }
  }
}
