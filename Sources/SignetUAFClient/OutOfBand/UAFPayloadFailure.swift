/// A reason why an out-of-band payload could not be decoded.
@nonexhaustive public enum UAFPayloadFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The payload is encrypted for another device, or for a deleted key.
  case decryption
  /// The input is not a valid payload.
  case malformed(String)
  /// The vault of this device could not be read.
  case device(SignetFailure)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .decryption: "this is encrypted for another device, or for a key that this one no longer has"
    case .malformed(let reason): "this is not a request to this device: \(reason)"
    case .device(let failure): failure.description
    }
  }
}
