/// Why an authenticator was not deleted from this device.
@nonexhaustive public enum UAFDeletionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// This is no authenticator of this device.
  case invalidAAID(String)
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .invalidAAID: "this device has no authenticator of this name"
    case .device(let failure): failure.description
    }
  }
}
