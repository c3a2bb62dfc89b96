/// A reason why the device information at servers was not changed.
@nonexhaustive
public enum UAFDeviceInformationChangeFailure: Error, Hashable, Sendable,
  CustomStringConvertible
{
  /// Another device of the user has this name.
  case nameAlreadyExists(String)
  /// Nothing is registered on this device, or the server does not know the device.
  case notFound
  /// The clocks of this device and of the server differ too much.
  case clockSkewTooBig(server: String)
  /// The server does not allow this device to make the change.
  case forbidden(server: String)
  /// The server does not offer this service.
  case operationNotSupportedByBackend(server: String)
  /// The server could not be reached, or rejected the request.
  case network(UAFNetworkProblem)
  /// The device could not do its part: its vault, or its key.
  case device(SignetError)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .nameAlreadyExists: UAFDeviceServiceFailure.nameConflict
    case .notFound: "nothing is registered on this device, or the server does not know it any more"
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .forbidden: "the server does not allow this device to do that"
    case .operationNotSupportedByBackend: "the server does not offer this"
    case .network(let problem): problem.description
    case .device(let failure): failure.description
    }
  }
}
