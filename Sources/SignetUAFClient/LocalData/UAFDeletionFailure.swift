/// A reason why an authenticator was not deleted from this device.
@nonexhaustive public enum UAFDeletionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// No authenticator of this device has this AAID.
  case invalidAAID(String)
  /// The vault of this device could not be read or written.
  case device(SignetFailure)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .invalidAAID: "this device has no authenticator of this name"
    case .device(let failure): failure.description
    }
  }
}
