/// Why a message did not get through.
package enum BusFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no bus at the address, or it lets nobody in.
  case connectionFailed(errno: Int32)
  /// The connection broke.
  case connectionLost(errno: Int32)
  /// The other side answered with an error.
  case refused(name: String, message: String)
  /// Nothing came in time.
  case timedOut
  /// The ``Interruption`` has fired.
  case interrupted
  /// A message was larger, deeper or of another form than agreed.
  case malformed

  /// For a log; the words of the other side are as it sent them.
  package var description: String {
    switch self {
    case .connectionFailed(let code): "no connection to the bus, system error \(code)"
    case .connectionLost(let code): "the connection to the bus was lost, system error \(code)"
    case .refused(let name, let message): "\(name): \(message)"
    case .timedOut: "no answer in time"
    case .interrupted: "interrupted"
    case .malformed: "a message of another form than agreed"
    }
  }
}
