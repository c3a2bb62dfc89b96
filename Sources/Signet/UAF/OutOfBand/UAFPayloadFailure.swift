/// Why a payload that came by another way could not be read.
@nonexhaustive public enum UAFPayloadFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is encrypted for another device, or for a key that is gone.
  case decryption
  /// It is none.
  case malformed(String)
  /// What this device keeps could not be read.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .decryption: "this is encrypted for another device, or for a key that this one no longer has"
    case .malformed(let reason): "this is no request to this device: \(reason)"
    case .device(let failure): failure.description
    }
  }
}
