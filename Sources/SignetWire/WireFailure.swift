public import SignetJSON

/// Why a message is not one of ours.
@nonexhaustive public enum WireFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are not the JSON that `docs/protocol.md` describes.
  case json(JSONFailure)
  /// The message speaks a version of the protocol that this build does not know.
  case unsupportedVersion(Int64)
  /// A member has the right type and a value that the protocol does not allow.
  case invalid(member: String, reason: String)
  /// A proof or a signature does not fit the message.
  case notAuthentic

  /// What is wrong and what to do; never a secret.
  public var description: String {
    switch self {
    case .json(let failure): failure.description
    case .unsupportedVersion(let version):
      "the message speaks protocol version \(version); this build speaks version \(Wire.version): update Signet"
    case .invalid(let member, let reason): "\"\(member)\" \(reason)"
    case .notAuthentic: "the message is not from whom it says it is; start again"
    }
  }
}
