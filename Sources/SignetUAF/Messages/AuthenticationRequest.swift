import SignetCrypto
package import SignetJSON

/// A server's request to authenticate a user or to confirm a transaction.
package struct AuthenticationRequest: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.authentication
  package static let limits = JSONLimits(maximumByteCount: 1 << 20)
  package let header: OperationHeader
  package let challenge: [UInt8]
  /// The same transaction in one or more content types; empty for a sign-in only.
  package let transactions: [UAFTransaction]
  package let policy: Policy

  package init(
    header: OperationHeader, challenge: [UInt8], transactions: [UAFTransaction] = [], policy: Policy
  ) {
    self.header = header
    self.challenge = challenge
    self.transactions = transactions
    self.policy = policy
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    challenge = try reader.bytes("challenge", 8...64)
    transactions =
      try reader.optionalList("transaction", maximum: 16) { value, path throws(MessageFailure) in
        try UAFTransaction(DictionaryReader(value, path))
      } ?? []
    policy = try Policy(reader.dictionary("policy"))
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "header": .object(header.json), "challenge": .string(Base64URL.encode(challenge)),
    ]
    if !transactions.isEmpty { object["transaction"] = .dictionaries(transactions.map(\.json)) }
    object["policy"] = .object(policy.json)
    return object
  }
}
