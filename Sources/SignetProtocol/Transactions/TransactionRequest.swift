import SignetJSON

/// A transaction in the form in which the device receives it (`docs/protocol.md` section 5).
public struct TransactionRequest: Hashable, Sendable {
  /// The id of the transaction.
  public let id: TransactionID
  /// The content, exactly the text that the device will sign.
  public let content: TransactionContent
  /// The time of creation, in seconds since 1970.
  public let created: Int64
  /// The time at which the transaction expires, in seconds since 1970.
  public let expires: Int64
  /// The decisions that the user can make.
  public let statuses: [DecisionStatus]
  /// The number of digits that the user types with an approval; `nil` if the relying party displays no number.
  public let numberDigits: Int?

  /// Creates a transaction.
  ///
  /// - Parameters:
  ///   - id: The id of the transaction.
  ///   - content: The content to decide.
  ///   - created: The time of creation, in seconds since 1970.
  ///   - expires: The time of expiry, in seconds since 1970.
  ///   - statuses: The decisions that the user can make.
  ///   - numberDigits: 2 to 6 if the relying party displays a number.
  public init(
    id: TransactionID, content: TransactionContent, created: Int64, expires: Int64,
    statuses: [DecisionStatus] = DecisionStatus.allCases, numberDigits: Int? = nil
  ) {
    self.id = id
    self.content = content
    self.created = created
    self.expires = expires
    self.statuses = statuses
    self.numberDigits = numberDigits
  }

  init(_ object: JSONObject) throws(WireFailure) {
    var statuses: [DecisionStatus] = []
    let elements = try Wire.reading(object.array("statuses"))
    for value in elements {
      // The user cannot choose a status that this build does not know, but still the others.
      if case .string(let name) = value, let status = DecisionStatus(rawValue: name) {
        statuses.append(status)
      }
    }
    let digits = try Wire.reading(object.optionalInteger("digits")).map { Int(clamping: $0) }
    if let digits, !MatchingNumber.digitCounts.contains(digits) {
      throw .invalid(member: "digits", reason: "must be 2 to 6")
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
