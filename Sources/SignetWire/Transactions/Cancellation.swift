import SignetJSON

/// The end that a user puts to a transaction without deciding it: nothing is signed but the request.
public struct Cancellation: Hashable, Sendable {
  /// Why.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The user does not want to go on with it.
    case userCancel
    /// The user finds it suspicious.
    case notifySuspicious
  }

  /// Why.
  public let reason: Reason
  /// What the user adds for the relying party; may be empty.
  public let message: String

  /// Puts a cancellation together.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - message: 0 to 1,000 plain characters, no line feed.
  /// - Throws: ``WireFailure/invalid(member:reason:)``.
  public init(_ reason: Reason, message: String = "") throws(WireFailure) {
    try Self.check(message, member: "message")
    (self.reason, self.message) = (reason, message)
  }

  /// Reads a cancellation.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    guard let reason = Reason(rawValue: try object.wireName("reason")) else {
      throw .invalid(member: "reason", reason: "is userCancel or notifySuspicious")
    }
    try self.init(reason, message: Wire.reading(object.optionalString("message")) ?? "")
  }

  /// The body of the request.
  public var bytes: [UInt8] {
    var object: JSONObject = ["reason": .string(reason.rawValue)]
    if !message.isEmpty { object["message"] = .string(message) }
    return JSONValue.object(object).bytes
  }

  /// Checks what somebody writes about the end of a transaction: 0 to 1,000 plain characters, no line feed.
  ///
  /// - Parameters:
  ///   - text: What is written.
  ///   - member: What the message calls it.
  /// - Throws: ``WireFailure/invalid(member:reason:)``.
  public static func check(_ text: String, member: String) throws(WireFailure) {
    if !text.isEmpty { try DisplayText.checkLine(text, member: member, limit: 1000) }
  }
}
