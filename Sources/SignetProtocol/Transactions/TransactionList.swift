import SignetJSON

/// The transactions that wait for a user: the payload of the server's JWS.
public struct TransactionList: Hashable, Sendable {
  /// The transactions, oldest first.
  public let transactions: [TransactionRequest]
  /// Indicates whether the server asks for a renewal of the container.
  public let isRenewalRequested: Bool

  /// Indicates whether the server has a new status for the device or wants its report (`docs/protocol.md` section 14).
  public let isReportRequested: Bool

  /// Creates a list.
  public init(
    _ transactions: [TransactionRequest], isRenewalRequested: Bool = false, isReportRequested: Bool = false
  ) {
    (self.transactions, self.isRenewalRequested) = (transactions, isRenewalRequested)
    self.isReportRequested = isReportRequested
  }

  /// Parses a list without a signature.
  ///
  /// - Throws: ``WireFailure`` if the list is not of the protocol's form.
  package init(parsing bytes: [UInt8]) throws(WireFailure) {
    try self.init(Wire.object(bytes, maximumByteCount: Wire.maximumListByteCount))
  }

  init(_ object: JSONObject) throws(WireFailure) {
    let elements = try Wire.reading(object.array("transactions"))
    var transactions: [TransactionRequest] = []
    for value in elements {
      guard case .object(let member) = value else {
        throw .invalid(member: "transactions", reason: "has an element that is not an object")
      }
      transactions.append(try TransactionRequest(member))
    }
    self.transactions = transactions
    isRenewalRequested = try Wire.reading(object.optionalBool("renew")) ?? false
    isReportRequested = try Wire.reading(object.optionalBool("report")) ?? false
  }

  /// The list as JSON.
  public var bytes: [UInt8] { JSONValue.object(json).bytes }

  var json: JSONObject {
    var object = JSONObject()
    object["transactions"] = .array(transactions.map { .object($0.json) })
    if isRenewalRequested { object["renew"] = true }
    if isReportRequested { object["report"] = true }
    return object
  }
}
