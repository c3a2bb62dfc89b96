import SignetJSON
public import SignetWire

/// What a relying party wants a user to be asked.
public struct TransactionOrder: Sendable {
  /// How many seconds a transaction may last: up to a day.
  public static let lifetimes: ClosedRange<Int64> = 1...86_400

  /// What is asked.
  public var matter: TransactionContent.Matter
  /// Who asks, as the user is told.
  public var from: String
  /// Where the user is said to be.
  public var context: TransactionContext?
  /// Who decides; `nil` for whoever scans it.
  public var user: UserID?
  /// Seconds; `nil` for the configured ones.
  public var lifetime: Int64?
  /// What the user may decide; denying is always possible.
  public var statuses: [DecisionStatus]
  /// How many digits the relying party wants to show, for the user to type; `nil` for none.
  public var numberDigits: Int?
  /// The positions of the form's fields that the user types where the device sees nothing of all this; empty for none of them, `nil`
  /// where that is not wanted.
  public var typedFields: [Int]?

  /// Describes an order.
  public init(
    _ matter: TransactionContent.Matter, from: String, context: TransactionContext? = nil, user: UserID?,
    lifetime: Int64? = nil, statuses: [DecisionStatus] = DecisionStatus.allCases, numberDigits: Int? = nil,
    typedFields: [Int]? = nil
  ) {
    (self.matter, self.from, self.context, self.user) = (matter, from, context, user)
    (self.lifetime, self.statuses, self.numberDigits) = (lifetime, statuses, numberDigits)
    self.typedFields = typedFields
  }

  /// Reads the body of a relying party's request.
  ///
  /// - Throws: ``Problem``.
  init(_ body: JSONObject, from name: String) throws(Problem) {
    let context = try members(body.optionalObject("context"))
    self.init(
      try Self.content { () throws(WireFailure) in try TransactionContent.matter(body) }, from: name,
      user: try Self.user(body),
      lifetime: try members(body.optionalInteger("lifetime")), statuses: try Self.statuses(body),
      numberDigits: try Self.numberDigits(body), typedFields: try Self.typedFields(body))
    if let context {
      self.context = try Self.content { () throws(WireFailure) in try TransactionContext(context) }
    }
  }

  /// A user, or expressly anybody: one that was forgotten is a mistake.
  private static func user(_ body: JSONObject) throws(Problem) -> UserID? {
    let isForAnybody = try members(body.optionalBool("anybody")) ?? false
    guard isForAnybody else { return try userID(members(body.string("user"))) }
    guard !body.contains("user") else {
      throw Problem(.malformed, "\"anybody\" goes without \"user\"")
    }
    return nil
  }

  /// Makes a part of the content: what is no such JSON is malformed, what would not show as it is, is refused.
  static func content<Value>(_ make: () throws(WireFailure) -> Value) throws(Problem) -> Value {
    do { return try make() } catch {
      if case .json = error { throw Problem(error) }
      throw Problem(.contentRefused, error.description)
    }
  }

  private static func statuses(_ body: JSONObject) throws(Problem) -> [DecisionStatus] {
    guard let names = try members(body.optionalStrings("statuses")) else { return DecisionStatus.allCases }
    let known = DecisionStatus.allCases
    guard names.allSatisfy({ name in known.contains { $0.rawValue.utf8.elementsEqual(name.utf8) } }) else {
      throw Problem(.malformed, "\"statuses\" are of accepted, denied and reported")
    }
    return known.filter { status in names.contains { $0.utf8.elementsEqual(status.rawValue.utf8) } }
  }

  private static func typedFields(_ body: JSONObject) throws(Problem) -> [Int]? {
    guard body.contains("typed") else { return nil }
    var fields: [Int] = []
    for value in try members(body.array("typed")) {
      guard case .integer(let field) = value else {
        throw Problem(.malformed, "\"typed\" holds positions of the form's fields")
      }
      fields.append(Int(clamping: field))
    }
    return fields
  }

  private static func numberDigits(_ body: JSONObject) throws(Problem) -> Int? {
    guard let number = try members(body.optionalObject("number")) else { return nil }
    let digits = Int(clamping: try members(number.integer("digits")))
    guard MatchingNumber.digitCounts.contains(digits) else {
      throw Problem(.malformed, "\"digits\" in \"number\" is 2 to 6")
    }
    return digits
  }
}
