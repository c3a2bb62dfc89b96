import SignetJSON

/// The transactions that wait for a user: the plaintext of the server's JWE.
public struct TransactionList: Hashable, Sendable {
  /// The transactions, oldest first.
  public let transactions: [TransactionRequest]
  /// Whether the server asks for the renewal of the container.
  public let isRenewalWanted: Bool

  /// Puts a list together.
  public init(_ transactions: [TransactionRequest], isRenewalWanted: Bool = false) {
    (self.transactions, self.isRenewalWanted) = (transactions, isRenewalWanted)
  }

  /// Reads a list.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes, maximumByteCount: Wire.maximumListByteCount)
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
  }

  /// The plaintext.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["transactions"] = .array(transactions.map { .object($0.json) })
    if isRenewalWanted { object["renew"] = true }
    return JSONValue.object(object).bytes
  }
}
