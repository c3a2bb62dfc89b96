import SignetJSON

/// An operator's command to the device of a container (`docs/protocol.md` section 14.3).
///
/// On the wire a command is an order and its acknowledgement a receipt: `orders`, `signet-order-receipt`.
public struct DeviceCommand: Hashable, Sendable {
  /// The action that the device has to carry out.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// Lock the container until the server unlocks it.
    case lock
    /// End the server's lock.
    case unlock
    /// Delete the container with all its keys.
    case wipe
  }

  /// The longest reason, in Unicode scalars.
  public static let maximumReasonLength = 200

  /// The id of the command.
  public let id: DeviceCommandID
  /// The action that the device has to carry out.
  public let action: Action
  /// The operator's reason; may be empty.
  public let reason: String

  /// Creates a command.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a reason that ``check(reason:)`` rejects.
  public init(id: DeviceCommandID, action: Action, reason: String) throws(WireFailure) {
    try Self.check(reason: reason)
    self.id = id
    self.action = action
    self.reason = reason
  }

  /// Rejects a reason that is too long, or has a line feed or a scalar that is invisible or reorders text.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` if the reason is rejected.
  public static func check(reason: String) throws(WireFailure) {
    guard reason.unicodeScalars.count <= maximumReasonLength,
      reason.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(
        member: "reason",
        reason: "must have at most \(maximumReasonLength) characters, none of them a control character")
    }
  }

  /// Makes a valid reason of any text: invisible and reordering scalars and line feeds become spaces, and the end is cut.
  ///
  /// - Parameter text: Any text, such as one that a device has sent.
  /// - Returns: A reason that ``check(reason:)`` accepts.
  public static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(maximumReasonLength).map {
          DisplayText.isPlain($0) && $0 != "\n" ? $0 : " "
        }))
  }

  init(_ object: JSONObject) throws(WireFailure) {
    guard let action = Action(rawValue: try object.wireName("action")) else {
      throw .invalid(member: "action", reason: "is not known to this version")
    }
    try self.init(
      id: DeviceCommandID(object.wireString("id")), action: action, reason: object.wireString("reason"))
  }

  var json: JSONObject {
    ["id": .string(id.text), "action": .string(action.rawValue), "reason": .string(reason)]
  }
}
