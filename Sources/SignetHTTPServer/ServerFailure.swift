/// Why a server did not start.
package enum ServerFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The address is not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// Plaintext was requested for an address that other machines can reach.
  case plaintextBeyondLoopback(String)
  /// A limit is zero, negative or beyond the library's maximum.
  case limitOutOfRange(String)
  /// A socket call failed.
  case cannotListen(call: String, errno: Int32)
  /// GnuTLS refused the certificate or its key.
  case certificateRefused(code: Int32)
  /// A polling thread did not start.
  case cannotStart
  /// The server was started before, or stopped.
  case alreadyStarted

  /// The cause and the remedy.
  package var description: String {
    switch self {
    case .invalidAddress(let address): "\(address) is not a numeric address; use one such as 127.0.0.1 or ::"
    case .plaintextBeyondLoopback(let address):
      "plain HTTP is only for loopback, not \(address); configure TLS or listen on 127.0.0.1"
    case .limitOutOfRange(let name): "\(name) is out of range; see ServerLimits"
    case .cannotListen(let call, let errno):
      "\(call) failed with errno \(errno); check the address and the port, and whether another program uses them"
    case .certificateRefused(let code):
      "the certificate or key was refused (\(TLSIdentity.reason(ofCode: code))); both must be PEM and belong together"
    case .cannotStart: "the server's threads could not start; check memory and file descriptor limits"
    case .alreadyStarted: "a server can start only once; create another one"
    }
  }
}
