import SignetJSON

/// The transactions that wait for a user: the plaintext of the server's JWE.
public struct TransactionList: Hashable, Sendable {
  /// The transactions, oldest first.
  public let transactions: [TransactionRequest]

  /// Puts a list together.
  public init(_ transactions: [TransactionRequest]) { self.transactions = transactions }

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
  }

  /// The plaintext.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["transactions"] = .array(transactions.map { .object($0.json) })
    return JSONValue.object(object).bytes
  }
}
