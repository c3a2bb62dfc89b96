/// The reason why a bus operation failed.
package enum BusFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no bus at the address, or it denies access.
  case connectionFailed(errno: Int32)
  /// The connection broke.
  case connectionLost(errno: Int32)
  /// The peer answered with an error.
  case refused(name: String, message: String)
  /// There was no message in time.
  case timedOut
  /// The ``Interruption`` has fired.
  case interrupted
  /// A message exceeded the limits of size or depth, or had an unexpected form.
  case malformed

  /// A description for a log; the peer's text is not sanitised.
  package var description: String {
    switch self {
    case .connectionFailed(let code): "no connection to the bus, system error \(code)"
    case .connectionLost(let code): "the connection to the bus was lost, system error \(code)"
    case .refused(let name, let message): "\(name): \(message)"
    case .timedOut: "no answer in time"
    case .interrupted: "interrupted"
    case .malformed: "a message of an unexpected form"
    }
  }
}
