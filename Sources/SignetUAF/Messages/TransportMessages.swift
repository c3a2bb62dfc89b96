package import SignetJSON

/// An app's query for a server's request (UAF Application API section 8.2).
package struct GetUAFRequest: Hashable, Sendable {
  package let operation: UAFOperation?
  /// The previously answered request, if this query is for the next one.
  package let previousRequest: String?
  /// The context for the server, in a text of the server's format.
  package let context: String?

  package init(operation: UAFOperation?, previousRequest: String? = nil, context: String? = nil) {
    self.operation = operation
    self.previousRequest = previousRequest
    self.context = context
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    operation = try reader.operation()
    previousRequest = try reader.optionalString("previousRequest", 0...(1 << 20))
    context = try reader.optionalString("context", 0...65_536)
  }

  package var json: JSONObject {
    var object = JSONObject()
    object.setOptional("op", operation.map { .string($0.rawValue) })
    object.setOptional("previousRequest", previousRequest.map { .string($0) })
    object.setOptional("context", context.map { .string($0) })
    return object
  }
}

/// A server's request with its metadata (UAF Application API section 8.2).
package struct ReturnUAFRequest: Hashable, Sendable {
  /// The code as received; ``UAFStatus`` lists the known ones.
  package let statusCode: Int
  /// The JSON text of a list of requests.
  package let request: String?
  package let operation: UAFOperation?
  /// The lifetime of the request, in milliseconds.
  package let lifetimeMillis: Int64?

  package init(
    _ status: UAFStatus, request: String? = nil, operation: UAFOperation? = nil, lifetimeMillis: Int64? = nil
  ) {
    statusCode = status.rawValue
    self.request = request
    self.operation = operation
    self.lifetimeMillis = lifetimeMillis
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    statusCode = Int(try reader.number("statusCode", as: UInt16.self))
    request = try reader.optionalString("uafRequest", 1...(1 << 20))
    operation = try reader.operation()
    lifetimeMillis = try reader.optionalNumber("lifetimeMillis")
    if let lifetimeMillis, lifetimeMillis < 0 { throw reader.failure("lifetimeMillis", .range) }
  }

  package var json: JSONObject {
    var object: JSONObject = ["statusCode": .number(statusCode)]
    object.setOptional("uafRequest", request.map { .string($0) })
    object.setOptional("op", operation.map { .string($0.rawValue) })
    object.setOptional("lifetimeMillis", lifetimeMillis.map { .integer($0) })
    return object
  }
}

/// A client's response in transit to the server (UAF Application API section 8.2).
package struct SendUAFResponse: Hashable, Sendable {
  /// The JSON text of a list of responses.
  package let response: String
  package let context: String?

  package init(response: String, context: String? = nil) {
    (self.response, self.context) = (response, context)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    response = try reader.string("uafResponse", 1...(1 << 20))
    context = try reader.optionalString("context", 0...65_536)
  }

  package var json: JSONObject {
    var object: JSONObject = ["uafResponse": .string(response)]
    object.setOptional("context", context.map { .string($0) })
    return object
  }
}

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

/// A message in transit between an app and its client (UAF Application API section 4.1).
package struct UAFMessage: Hashable, Sendable {
  /// The JSON text of a list of messages.
  package let protocolMessage: String
  /// Additional data for the client; not interpreted.
  package let additionalData: JSONValue?

  package init(protocolMessage: String, additionalData: JSONValue? = nil) {
    (self.protocolMessage, self.additionalData) = (protocolMessage, additionalData)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    protocolMessage = try reader.string("uafProtocolMessage", 1...(1 << 20))
    additionalData = reader.object["additionalData"]
  }

  package var json: JSONObject {
    var object: JSONObject = ["uafProtocolMessage": .string(protocolMessage)]
    object.setOptional("additionalData", additionalData)
    return object
  }
}
