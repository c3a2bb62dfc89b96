import SignetJSON

/// A user's cancellation of a transaction without a decision: only the request is signed.
public struct Cancellation: Hashable, Sendable {
  /// The user's reasons to cancel.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The user does not want to continue.
    case userCancel
    /// The user considers the transaction suspicious.
    case notifySuspicious
  }

  /// The user's reason.
  public let reason: Reason
  /// The user's message for the relying party; may be empty.
  public let message: String

  /// Creates a cancellation.
  ///
  /// - Parameters:
  ///   - reason: The user's reason.
  ///   - message: 0 to 1,000 plain characters, no line feed.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a message that ``check(_:member:)`` rejects.
  public init(_ reason: Reason, message: String = "") throws(WireFailure) {
    try Self.check(message, member: "message")
    (self.reason, self.message) = (reason, message)
  }

  /// Parses a cancellation.
  ///
  /// - Throws: ``WireFailure`` for an unknown reason or a message that is rejected.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    guard let reason = Reason(rawValue: try object.wireName("reason")) else {
      throw .invalid(member: "reason", reason: "must be userCancel or notifySuspicious")
    }
    try self.init(reason, message: Wire.reading(object.optionalString("message")) ?? "")
  }

  /// The body of the request as JSON.
  public var bytes: [UInt8] {
    var object: JSONObject = ["reason": .string(reason.rawValue)]
    if !message.isEmpty { object["message"] = .string(message) }
    return JSONValue.object(object).bytes
  }

  /// Rejects a message unless it has 0 to 1,000 plain characters without a line feed.
  ///
  /// - Parameters:
  ///   - text: The message.
  ///   - member: The name of the message in the error.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` if the message is rejected.
  public static func check(_ text: String, member: String) throws(WireFailure) {
    if !text.isEmpty { try DisplayText.checkLine(text, member: member, limit: 1000) }
  }
}
