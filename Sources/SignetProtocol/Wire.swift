public import SignetJSON

/// The constants and checks that all messages of the protocol share.
public enum Wire {
  /// The version of the protocol that this build speaks (`docs/protocol.md`).
  public static let version: Int64 = 1
  /// The largest message, in bytes.
  public static let maximumByteCount = 65_536

  /// The largest list of transactions, in bytes: 64 contents of 4,096 bytes, each of which JSON may write as two.
  static let maximumListByteCount = 640 * 1024

  /// Parses a message's JSON object.
  ///
  /// - Throws: ``WireFailure/json(_:)`` for malformed or too large JSON.
  static func object(
    _ bytes: [UInt8], maximumByteCount limit: Int = maximumByteCount
  ) throws(WireFailure) -> JSONObject {
    try reading(JSONObject(parsing: bytes, limits: .init(maximumByteCount: limit)))
  }

  /// Runs a JSON reader and converts its error.
  static func reading<Value>(_ value: @autoclosure () throws(JSONFailure) -> Value) throws(WireFailure)
    -> Value
  {
    do { return try value() } catch { throw .json(error) }
  }

  /// Checks the `version` member.
  ///
  /// - Throws: ``WireFailure/unsupportedVersion(_:)``, or ``WireFailure/json(_:)`` if the member is missing.
  static func checkVersion(_ object: JSONObject, member: String = "version") throws(WireFailure) {
    let received = try reading(object.integer(member))
    guard received == version else { throw .unsupportedVersion(received) }
  }
}

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
