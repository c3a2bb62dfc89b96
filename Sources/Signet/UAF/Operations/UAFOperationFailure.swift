import SignetUAF

/// Why a registration or a deregistration failed, in-band or out of band.
@nonexhaustive public enum UAFOperationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The client of the protocol ended it; the detail is for developers.
  case fido(UAFClientError, detail: String? = nil)
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// The user of this name is registered at another server.
  case userAlreadyRegisteredInAnotherServer(String)
  /// The user who was chosen is not registered at this server.
  case userNotRegisteredInServer(String)
  /// The clock of this device, or of the server, is wrong.
  case clockSkewTooBig(server: String)
  /// A parameter is of no use.
  case configuration(UAFConfigurationFailure)
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
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
