public import SignetJSON

/// The reasons why a message is rejected.
@nonexhaustive public enum WireFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are not the JSON that `docs/protocol.md` describes.
  case json(JSONFailure)
  /// The message has a protocol version that this build does not know.
  case unsupportedVersion(Int64)
  /// A member has the right type but a value that the protocol does not allow.
  case invalid(member: String, reason: String)
  /// A proof or a signature does not verify.
  case notAuthentic

  /// The reason and what to do about it; it never contains a secret.
  public var description: String {
    switch self {
    case .json(let failure): failure.description
    case .unsupportedVersion(let version):
      "the message speaks protocol version \(version); this build speaks version \(Wire.version): update Signet"
    case .invalid(let member, let reason): "\"\(member)\" \(reason)"
    case .notAuthentic: "the sender of the message was not authenticated; start again"
    }
  }
}
