import SignetUAF

/// A failure of a registration or a deregistration, in-band or out-of-band.
@nonexhaustive public enum UAFOperationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The UAF client ended the operation with this error code; the detail is for developers.
  case fido(UAFClientError, detail: String? = nil)
  /// The server could not be reached, or rejected the request.
  case network(UAFNetworkProblem)
  /// A user of this name is registered at the named other server.
  case userAlreadyRegisteredInAnotherServer(String)
  /// The selected user is not registered at this server.
  case userNotRegisteredInServer(String)
  /// The clocks of this device and of the server differ too much.
  case clockSkewTooBig(server: String)
  /// A parameter is invalid.
  case configuration(UAFConfigurationFailure)
  /// The vault of this device could not be read or written.
  case device(SignetFailure)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .fido(let code, let detail): detail ?? code.meaning
    case .network(let problem): problem.description
    case .userAlreadyRegisteredInAnotherServer(let server): "a user of this name is registered at \(server)"
    case .userNotRegisteredInServer(let server): "the user is not registered at \(server)"
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .configuration(let failure): failure.description
    case .device(let failure): failure.description
    }
  }
}
