import SignetJSON

/// A transaction as the device gets it (`docs/protocol.md` section 5).
public struct TransactionRequest: Hashable, Sendable {
  /// Which transaction.
  public let id: TransactionID
  /// What the user is asked, exactly as it will be signed.
  public let text: String
  /// When it was made, in seconds since 1970.
  public let created: Int64
  /// When it ends, in seconds since 1970.
  public let expires: Int64
  /// What the user may decide.
  public let statuses: [DecisionStatus]

  /// Puts a transaction together.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a text that would not show as it is.
  public init(
    id: TransactionID, text: String, created: Int64, expires: Int64,
    statuses: [DecisionStatus] = DecisionStatus.allCases
  ) throws(WireFailure) {
    try DisplayText.check(text)
    (self.id, self.text, self.created, self.expires, self.statuses) = (id, text, created, expires, statuses)
  }

  init(_ object: JSONObject) throws(WireFailure) {
    var statuses: [DecisionStatus] = []
    let listed = try Wire.reading(object.array("statuses"))
    for value in listed {
      // A status that this build does not know can't be chosen here; the others can.
      if case .string(let name) = value, let status = DecisionStatus(rawValue: name) {
        statuses.append(status)
      }
    }
    try self.init(
      id: ServerMadeID(object.wireString("id")), text: object.wireString("text"),
      created: object.wireInteger("created"), expires: object.wireInteger("expires"), statuses: statuses)
  }

  var json: JSONObject {
    var object = JSONObject()
    object["id"] = .string(id.text)
    object["text"] = .string(text)
    object["created"] = .integer(created)
    object["expires"] = .integer(expires)
    object["statuses"] = .array(statuses.map { .string($0.rawValue) })
    return object
  }
}
