import SignetJSON

/// The transactions that wait for a user: what the server's JWS says.
public struct TransactionList: Hashable, Sendable {
  /// The transactions, oldest first.
  public let transactions: [TransactionRequest]
  /// Whether the server asks for the renewal of the container.
  public let isRenewalWanted: Bool

  /// Whether the server has something to say of the container, or wants to hear of the device (section 14).
  public let isReportWanted: Bool

  /// Puts a list together.
  public init(
    _ transactions: [TransactionRequest], isRenewalWanted: Bool = false, isReportWanted: Bool = false
  ) {
    (self.transactions, self.isRenewalWanted) = (transactions, isRenewalWanted)
    self.isReportWanted = isReportWanted
  }

  /// Reads a list.
  ///
  /// - Throws: ``WireFailure``.
  package init(parsing bytes: [UInt8]) throws(WireFailure) {
    try self.init(Wire.object(bytes, maximumByteCount: Wire.maximumListByteCount))
  }

  init(_ object: JSONObject) throws(WireFailure) {
    let listed = try Wire.reading(object.array("transactions"))
    var transactions: [TransactionRequest] = []
    for value in listed {
      guard case .object(let member) = value else {
        throw .invalid(member: "transactions", reason: "holds something that is no object")
      }
      transactions.append(try TransactionRequest(member))
    }
    self.transactions = transactions
    isRenewalWanted = try Wire.reading(object.optionalBool("renew")) ?? false
    isReportWanted = try Wire.reading(object.optionalBool("report")) ?? false
  }

  /// The list as JSON.
  public var bytes: [UInt8] { JSONValue.object(json).bytes }

  var json: JSONObject {
    var object = JSONObject()
    object["transactions"] = .array(transactions.map { .object($0.json) })
    if isRenewalWanted { object["renew"] = true }
    if isReportWanted { object["report"] = true }
    return object
  }
}
