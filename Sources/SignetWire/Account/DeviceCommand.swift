import SignetJSON

/// What an operator commands a container's device to do (`docs/protocol.md` section 14.3).
///
/// The wire calls it an order, and the word of the device that has done it a receipt: `orders`, `signet-order-receipt`.
public struct DeviceCommand: Hashable, Sendable {
  /// What is to be done.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The container is locked until the server unlocks it.
    case lock
    /// The server's lock ends.
    case unlock
    /// The container is deleted with all its keys.
    case wipe
  }

  /// The most characters of a reason.
  public static let maximumReasonLength = 200

  /// Names the command.
  public let id: DeviceCommandID
  /// What is to be done.
  public let action: Action
  /// Why; may be empty.
  public let reason: String

  /// Puts a command together.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a reason that is too long or does not show what it is.
  public init(id: DeviceCommandID, action: Action, reason: String) throws(WireFailure) {
    try Self.check(reason: reason)
    (self.id, self.action, self.reason) = (id, action, reason)
  }

  /// Refuses a reason that is too long or does not show what it is.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)``.
  public static func check(reason: String) throws(WireFailure) {
    guard reason.unicodeScalars.count <= maximumReasonLength,
      reason.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(
        member: "reason",
        reason: "has at most \(maximumReasonLength) characters, none of them a control character")
    }
  }

  /// A text as a reason: what does not show what it is becomes a space, and what is too long is cut.
  ///
  /// - Parameter text: Any text, such as one that a device has sent.
  /// - Returns: One that ``check(reason:)`` takes.
  public static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(maximumReasonLength).map {
          DisplayText.isPlain($0) && $0 != "\n" ? $0 : " "
        }))
  }

  init(_ object: JSONObject) throws(WireFailure) {
    guard let action = Action(rawValue: try object.wireName("action")) else {
      throw .invalid(member: "action", reason: "is none that this version knows")
    }
    try self.init(
      id: DeviceCommandID(object.wireString("id")), action: action, reason: object.wireString("reason"))
  }

  var json: JSONObject {
    ["id": .string(id.text), "action": .string(action.rawValue), "reason": .string(reason)]
  }
}
