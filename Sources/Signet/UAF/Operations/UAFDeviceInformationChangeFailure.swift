/// Why what servers know of this device could not be changed.
@nonexhaustive
public enum UAFDeviceInformationChangeFailure: Error, Hashable, Sendable,
  CustomStringConvertible
{
  /// A user has another device of this name.
  case nameAlreadyExists(String)
  /// Nothing is registered on this device, or the server does not know it.
  case notFound
  /// The device's key did not sign.
  case signing(SignetFailure)
  /// The clock of this device, or of the server, is wrong.
  case clockSkewTooBig(server: String)
  /// The server does not let this device change that.
  case forbidden(server: String)
  /// The server has no such service.
  case operationNotSupportedByBackend(server: String)
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .nameAlreadyExists: UAFDeviceServiceFailure.nameTaken
    case .notFound: "nothing is registered on this device, or the server does not know it any more"
    case .signing(let failure): "the device's key did not sign: \(failure)"
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .forbidden: "the server does not let this device do that"
    case .operationNotSupportedByBackend: "the server does not offer this"
    case .network(let problem): problem.description
    case .device(let failure): failure.description
    }
  }
}
