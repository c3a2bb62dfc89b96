/// A failure of a request to a server's device service: a query for pending operations or for device information, or a change of it.
@nonexhaustive public enum UAFDeviceServiceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The clocks of this device and of the server differ too much.
  case clockSkewTooBig(server: String)
  /// The server does not allow this device to make the request.
  case forbidden(server: String)
  /// The server could not be reached, or rejected the request.
  case network(UAFNetworkProblem)
  /// The server does not offer this service.
  case operationNotSupportedByBackend(server: String)
  /// Another device of the user has this name, so the server rejects it.
  case nameAlreadyExists(String, server: String)
  /// A pending payload is invalid or encrypted for another key.
  case payload(UAFPayloadFailure, server: String)
  /// The vault of this device could not be read, or its key could not sign.
  case device(SignetError)

  /// The base URL of the server; `nil` if the failure is on this device.
  public var server: String? {
    switch self {
    case .clockSkewTooBig(let server), .forbidden(let server), .operationNotSupportedByBackend(let server):
      server
    case .payload(_, let server), .nameAlreadyExists(_, let server): server
    case .network(let problem): problem.server
    case .device: nil
    }
  }

  static let nameConflict = "the user has another device of this name; choose another"

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .forbidden: "the server does not allow this device to do that"
    case .network(let problem): problem.description
    case .operationNotSupportedByBackend: "the server does not offer this"
    case .nameAlreadyExists: Self.nameConflict
    case .payload(let failure, _): failure.description
    case .device(let failure): failure.description
    }
  }
}
