import SignetJSON
public import SignetWire

/// What a relying party wants a user to be asked.
public struct TransactionDraft: Sendable {
  /// How many seconds a transaction may last: up to a day.
  public static let lifetimes: ClosedRange<Int64> = 1...86_400

  /// What is asked.
  public var content: TransactionContent.Matter
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
  /// The names of requirements of which an approval has to meet one; empty for signed content.
  public var requirements: [String]

  /// Describes what is to be asked.
  public init(
    _ content: TransactionContent.Matter, from: String, context: TransactionContext? = nil, user: UserID?,
    lifetime: Int64? = nil, statuses: [DecisionStatus] = DecisionStatus.allCases, numberDigits: Int? = nil,
    typedFields: [Int]? = nil, requirements: [String] = []
  ) {
    (self.content, self.from, self.context, self.user) = (content, from, context, user)
    (self.lifetime, self.statuses, self.numberDigits) = (lifetime, statuses, numberDigits)
    (self.typedFields, self.requirements) = (typedFields, requirements)
  }

  /// What a relying party's request asks for.
  ///
  /// - Throws: ``Problem``.
  init(_ body: NewTransaction, from name: String) throws(Problem) {
    var matter: JSONObject = [:]
    matter["text"] = body.text.map { .string($0) }
    matter["form"] = body.form.map { .object($0) }
    let statuses = body.statuses ?? DecisionStatus.allCases
    self.init(
      try Self.content { () throws(WireFailure) in try TransactionContent.matter(matter) }, from: name,
      user: try Self.user(body), lifetime: body.lifetime,
      statuses: DecisionStatus.allCases.filter { statuses.contains($0) },
      numberDigits: body.number.map { Int($0.digits) }, typedFields: body.typed?.map { Int($0) },
      requirements: body.requirement.map { [$0] } ?? [])
    if let context = body.context {
      self.context = try Self.content { () throws(WireFailure) in try TransactionContext(context) }
    }
  }

  /// A user, or expressly anybody: one that was forgotten is a mistake.
  private static func user(_ body: NewTransaction) throws(Problem) -> UserID? {
    switch (body.user, body.anybody ?? false) {
    case (let user?, false): return user
    case (nil, true): return nil
    case (nil, false): throw Problem(.malformed, JSONFailure.missingMember("user").description)
    case (_?, true): throw Problem(.malformed, "\"anybody\" goes without \"user\"")
    }
  }

  /// Makes a part of the content: what is no such JSON is malformed, what would not show as it is, is refused.
  static func content<Value>(_ make: () throws(WireFailure) -> Value) throws(Problem) -> Value {
    do { return try make() } catch {
      if case .json = error { throw Problem(error) }
      throw Problem(.contentRefused, error.description)
    }
  }
}
