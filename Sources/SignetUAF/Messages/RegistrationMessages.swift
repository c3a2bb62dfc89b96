import SignetCrypto
package import SignetJSON

/// What a server asks for when a user registers an authenticator.
package struct RegistrationRequest: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.registration
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  /// 8 to 64 bytes.
  package let challenge: [UInt8]
  /// 1 to 128 characters.
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

/// A client's answer to a registration request, as it was read: nothing in it is proved.
package struct RegistrationResponse: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.registration
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  package let finalChallenge: FinalChallenge
  package let assertions: [ResponseAssertion]

  package init(header: OperationHeader, finalChallenge: FinalChallenge, assertions: [ResponseAssertion]) {
    self.header = header
    self.finalChallenge = finalChallenge
    self.assertions = assertions
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    finalChallenge = try FinalChallenge(parsing: reader.string("fcParams", 0...32_768))
    assertions = try reader.assertions()
  }

  package var json: JSONObject {
    [
      "header": .object(header.json), "fcParams": .string(finalChallenge.text),
      "assertions": .dictionaries(assertions.map(\.json)),
    ]
  }
}

/// One assertion of a response, not looked into.
package struct ResponseAssertion: Hashable, Sendable {
  /// The only scheme of the protocol.
  package static let tlvScheme = "UAFV1TLV"

  package let scheme: String
  /// 1 to 4096 bytes.
  package let bytes: [UInt8]
  /// What the authenticator can show of pictures; only at registration.
  package let pngCharacteristics: [DisplayPNGCharacteristics]
  package let extensions: [UAFExtension]

  package init(
    scheme: String = tlvScheme, bytes: [UInt8], pngCharacteristics: [DisplayPNGCharacteristics] = [],
    extensions: [UAFExtension] = []
  ) {
    self.scheme = scheme
    self.bytes = bytes
    self.pngCharacteristics = pngCharacteristics
    self.extensions = extensions
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    scheme = try reader.string("assertionScheme", 1...64)
    bytes = try reader.bytes("assertion", 1...4096)
    pngCharacteristics =
      try reader.withoutNull(["tcDisplayPNGCharacteristics"]).optionalList(
        "tcDisplayPNGCharacteristics", minimum: 0, maximum: 64
      ) {
        value, path throws(MessageFailure) in
        try DisplayPNGCharacteristics(DictionaryReader(value, path))
      } ?? []
    extensions = try reader.extensions()
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "assertionScheme": .string(scheme), "assertion": .string(Base64URL.encode(bytes)),
    ]
    if !pngCharacteristics.isEmpty {
      object["tcDisplayPNGCharacteristics"] = .dictionaries(pngCharacteristics.map(\.json))
    }
    if !extensions.isEmpty { object["exts"] = extensions.json }
    return object
  }
}

extension DictionaryReader {
  /// The assertions of a response: 1 to 16.
  func assertions() throws(MessageFailure) -> [ResponseAssertion] {
    try list("assertions", maximum: 16) { value, path throws(MessageFailure) in
      try ResponseAssertion(DictionaryReader(value, path))
    }
  }
}
