import SignetCrypto
package import SignetJSON

/// A server's request to register an authenticator.
package struct RegistrationRequest: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.registration
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  /// The server's challenge, 8 to 64 bytes.
  package let challenge: [UInt8]
  /// The user's name, 1 to 128 characters.
  package let username: String
  package let policy: Policy

  package init(header: OperationHeader, challenge: [UInt8], username: String, policy: Policy) {
    self.header = header
    self.challenge = challenge
    self.username = username
    self.policy = policy
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    challenge = try reader.bytes("challenge", 8...64)
    username = try reader.string("username", 1...128)
    policy = try Policy(reader.dictionary("policy"))
  }

  package var json: JSONObject {
    [
      "header": .object(header.json), "challenge": .string(Base64URL.encode(challenge)),
      "username": .string(username), "policy": .object(policy.json),
    ]
  }
}
