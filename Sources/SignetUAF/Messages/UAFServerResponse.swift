package import SignetJSON

/// A server's answer to a response (UAF Application API section 3.1.1).
package struct UAFServerResponse: Hashable, Sendable {
  /// A token that identifies the user from now on.
  package struct Token: Hashable, Sendable {
    /// The kinds of tokens in the protocol.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
      case httpCookie = "HTTP_COOKIE"
      case oauth = "OAUTH"
      case oauth2 = "OAUTH2"
      case saml11 = "SAML1_1"
      case saml2 = "SAML2"
      case jwt = "JWT"
      case openIDConnect = "OPENID_CONNECT"
    }

    package let kind: Kind
    package let value: String

    package init(_ kind: Kind, _ value: String) { (self.kind, self.value) = (kind, value) }
  }

  /// The code as received; ``UAFStatus`` lists the known ones.
  package let statusCode: Int
  package let description: String?
  package let additionalTokens: [Token]
  package let location: String?
  package let postData: String?
  /// The JSON text of a list of requests to continue with.
  package let newRequest: String?

  package init(
    _ status: UAFStatus, description: String? = nil, additionalTokens: [Token] = [],
    location: String? = nil, postData: String? = nil, newRequest: String? = nil
  ) {
    statusCode = status.rawValue
    self.description = description
    self.additionalTokens = additionalTokens
    self.location = location
    self.postData = postData
    self.newRequest = newRequest
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    statusCode = Int(try reader.number("statusCode", as: UInt16.self))
    description = try reader.optionalString("description", 0...65_536)
    additionalTokens =
      try reader.optionalList("additionalTokens", minimum: 0, maximum: 64) {
        value, path throws(MessageFailure) in
        let reader = try DictionaryReader(value, path)
        guard let kind = Token.Kind(rawValue: try reader.string("type", 1...64)) else {
          throw reader.failure("type", .value)
        }
        return Token(kind, try reader.string("value", 1...65_536))
      } ?? []
    location = try reader.optionalString("location", 0...65_536)
    postData = try reader.optionalString("postData", 0...65_536)
    newRequest = try reader.optionalString("newUAFRequest", 1...(1 << 20))
  }

  package var json: JSONObject {
    var object: JSONObject = ["statusCode": .number(statusCode)]
    object.setOptional("description", description.map { .string($0) })
    if !additionalTokens.isEmpty {
      object["additionalTokens"] = .dictionaries(
        additionalTokens.map { ["type": .string($0.kind.rawValue), "value": .string($0.value)] })
    }
    object.setOptional("location", location.map { .string($0) })
    object.setOptional("postData", postData.map { .string($0) })
    object.setOptional("newUAFRequest", newRequest.map { .string($0) })
    return object
  }
}
