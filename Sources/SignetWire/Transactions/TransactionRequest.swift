import SignetJSON

/// A transaction as the device gets it (`docs/protocol.md` section 5).
public struct TransactionRequest: Hashable, Sendable {
  /// Which transaction.
  public let id: TransactionID
  /// What the user is asked, exactly as it will be signed.
  public let content: TransactionContent
  /// When it was made, in seconds since 1970.
  public let created: Int64
  /// When it ends, in seconds since 1970.
  public let expires: Int64
  /// What the user may decide.
  public let statuses: [DecisionStatus]
  /// How many digits the relying party shows, for the user to type with an approval; `nil` where it shows none.
  public let numberDigits: Int?

  /// Puts a transaction together.
  ///
  /// - Parameters:
  ///   - id: Its name.
  ///   - content: What is asked.
  ///   - created: When it was made.
  ///   - expires: When it ends.
  ///   - statuses: What the user may decide.
  ///   - numberDigits: 2 to 6, where the relying party shows a number.
  public init(
    id: TransactionID, content: TransactionContent, created: Int64, expires: Int64,
    statuses: [DecisionStatus] = DecisionStatus.allCases, numberDigits: Int? = nil
  ) {
    (self.id, self.content, self.created, self.expires) = (id, content, created, expires)
    (self.statuses, self.numberDigits) = (statuses, numberDigits)
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
    let digits = try Wire.reading(object.optionalInteger("digits")).map { Int(clamping: $0) }
    if let digits, !MatchingNumber.digitCounts.contains(digits) {
      throw .invalid(member: "digits", reason: "is 2 to 6")
    }
    self.init(
      id: try TransactionID(object.wireString("id")),
      content: try TransactionContent(parsing: object.wireString("content")),
      created: try object.wireInteger("created"), expires: try object.wireInteger("expires"),
      statuses: statuses, numberDigits: digits)
  }

  var json: JSONObject {
    var object = JSONObject()
    object["id"] = .string(id.text)
    object["content"] = .string(content.json)
    object["created"] = .integer(created)
    object["expires"] = .integer(expires)
    object["statuses"] = .array(statuses.map { .string($0.rawValue) })
    if let numberDigits { object["digits"] = .integer(Int64(numberDigits)) }
    return object
  }
}
