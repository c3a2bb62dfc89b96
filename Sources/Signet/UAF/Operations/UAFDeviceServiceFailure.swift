/// Why a server could not be asked what waits, or what it knows of this device.
@nonexhaustive public enum UAFDeviceServiceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The clock of this device, or of the server, is wrong.
  case clockSkewTooBig(server: String)
  /// The server does not let this device ask that.
  case forbidden(server: String)
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// The server has no such service.
  case operationNotSupportedByBackend(server: String)
  /// A user has another device of this name, so the server does not take this one.
  case nameAlreadyExists(String, server: String)
  /// What waits is encrypted for another key, or is none.
  case payload(UAFPayloadFailure, server: String)
  /// What this device keeps could not be read, or its key did not sign.
  case device(SignetFailure)

  /// The server that was asked; `nil` where none was.
  public var server: String? {
    switch self {
    case .clockSkewTooBig(let server), .forbidden(let server), .operationNotSupportedByBackend(let server):
      server
    case .payload(_, let server), .nameAlreadyExists(_, let server): server
    case .network(let problem): problem.server
    case .device: nil
    }
  }

  static let nameTaken = "the user has another device of this name; choose another"

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .forbidden: "the server does not let this device do that"
    case .network(let problem): problem.description
    case .operationNotSupportedByBackend: "the server does not offer this"
    case .nameAlreadyExists: Self.nameTaken
    case .payload(let failure, _): failure.description
    case .device(let failure): failure.description
    }
  }
}
