import SignetJSON
package import SignetProtocol

/// A relying party's order for a transaction.
package struct TransactionDraft: Sendable {
  /// The allowed lifetimes of a transaction, in seconds: up to one day.
  package static let lifetimes: ClosedRange<Int64> = 1...86_400

  /// The content to decide.
  package var content: TransactionContent.Body
  /// The name of the requester, displayed to the user.
  package var from: String
  /// The place where the relying party sees the user.
  package var context: TransactionContext?
  /// The user who decides; `nil` for the user of any device that scans the link.
  package var user: UserID?
  /// The lifetime in seconds; `nil` for the configured one.
  package var lifetime: Int64?
  /// The decisions that the user may take; the user can always deny.
  package var statuses: [DecisionStatus]
  /// The number of digits that the relying party shows for the user to type; `nil` for none.
  package var numberDigits: Int?
  /// The positions of the form's fields that the user types into a device that receives nothing of the transaction.
  ///
  /// It is empty if the user types only the challenge, and `nil` if typing is not offered.
  package var typedFields: [Int]?
  /// The names of requirements, one of which an approval must meet; empty for signed content.
  package var requirements: [String]

  /// Creates an order.
  package init(
    _ content: TransactionContent.Body, from: String, context: TransactionContext? = nil, user: UserID?,
    lifetime: Int64? = nil, statuses: [DecisionStatus] = DecisionStatus.allCases, numberDigits: Int? = nil,
    typedFields: [Int]? = nil, requirements: [String] = []
  ) {
    self.content = content
    self.from = from
    self.context = context
    self.user = user
    self.lifetime = lifetime
    self.statuses = statuses
    self.numberDigits = numberDigits
    self.typedFields = typedFields
    self.requirements = requirements
  }

  /// Creates an order from a relying party's request.
  ///
  /// - Throws: ``Problem``.
  init(_ body: NewTransaction, from name: String) throws(Problem) {
    var members: JSONObject = [:]
    members["text"] = body.text.map { .string($0) }
    members["form"] = body.form.map { .object($0) }
    let statuses = body.statuses ?? DecisionStatus.allCases
    self.init(
      try Self.content { () throws(WireFailure) in try TransactionContent.body(members) }, from: name,
      user: try Self.user(body), lifetime: body.lifetime,
      statuses: DecisionStatus.allCases.filter { statuses.contains($0) },
      numberDigits: body.number.map { Int($0.digits) }, typedFields: body.typed?.map { Int($0) },
      requirements: body.requirement.map { [$0] } ?? [])
    if let context = body.context {
      self.context = try Self.content { () throws(WireFailure) in try TransactionContext(context) }
    }
  }

  /// Returns the user, or `nil` if `anybody` is set: a request without both is probably a mistake.
  private static func user(_ body: NewTransaction) throws(Problem) -> UserID? {
    switch (body.user, body.anybody ?? false) {
    case (let user?, false): return user
    case (nil, true): return nil
    case (nil, false): throw Problem(.malformed, JSONFailure.missingMember("user").description)
    case (_?, true): throw Problem(.malformed, "\"anybody\" cannot be combined with \"user\"")
    }
  }

  /// Creates a part of the content.
  ///
  /// Invalid JSON is malformed; content that would be displayed differently is refused.
  static func content<Value>(_ make: () throws(WireFailure) -> Value) throws(Problem) -> Value {
    do { return try make() } catch {
      if case .json = error { throw Problem(error) }
      throw Problem(.contentRefused, error.description)
    }
  }
}
