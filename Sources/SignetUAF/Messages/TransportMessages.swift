package import SignetJSON

/// Reads a transport's dictionary from a body.
private func object(_ text: [UInt8]) throws(MessageFailure) -> DictionaryReader {
  do throws(JSONFailure) {
    return DictionaryReader(
      try JSONObject(parsing: text, limits: JSONLimits(maximumByteCount: 1 << 20)))
  } catch {
    throw .json(error)
  }
}

/// A message on its way between an app and its client (UAF Application API section 4.1).
package struct UAFMessage: Hashable, Sendable {
  /// The JSON text of a list of messages.
  package let protocolMessage: String
  /// More for the client; not looked into.
  package let additionalData: JSONValue?

  package init(protocolMessage: String, additionalData: JSONValue? = nil) {
    (self.protocolMessage, self.additionalData) = (protocolMessage, additionalData)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try object(text)
    protocolMessage = try reader.string("uafProtocolMessage", 1...(1 << 20))
    additionalData = reader.object["additionalData"]
  }

  package var json: JSONObject {
    var object: JSONObject = ["uafProtocolMessage": .string(protocolMessage)]
    object.setOptional("additionalData", additionalData)
    return object
  }
}

/// What a client says of itself (UAF Application API section 4.2).
package struct DiscoveryData: Hashable, Sendable {
  package let supportedVersions: [UAFVersion]
  package let clientVendor: String
  package let clientVersion: UAFVersion
  package let availableAuthenticators: [DiscoveredAuthenticator]

  package init(
    supportedVersions: [UAFVersion] = [.v1_1], clientVendor: String, clientVersion: UAFVersion,
    availableAuthenticators: [DiscoveredAuthenticator]
  ) {
    self.supportedVersions = supportedVersions
    self.clientVendor = clientVendor
    self.clientVersion = clientVersion
    self.availableAuthenticators = availableAuthenticators
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try object(text)
    supportedVersions = try reader.list("supportedUAFVersions", maximum: 64) {
      value, path throws(MessageFailure) in
      try UAFVersion(DictionaryReader(value, path))
    }
    clientVendor = try reader.string("clientVendor", 1...4096)
    clientVersion = try UAFVersion(reader.dictionary("clientVersion"))
    availableAuthenticators = try reader.list("availableAuthenticators", minimum: 0, maximum: 256) {
      value, path throws(MessageFailure) in
      try DiscoveredAuthenticator(DictionaryReader(value, path))
    }
  }

  package var json: JSONObject {
    [
      "supportedUAFVersions": .dictionaries(supportedVersions.map(\.json)),
      "clientVendor": .string(clientVendor), "clientVersion": .object(clientVersion.json),
      "availableAuthenticators": .dictionaries(availableAuthenticators.map(\.json)),
    ]
  }
}

/// Asks a server for a request (UAF Application API section 8.2).
package struct GetUAFRequest: Hashable, Sendable {
  package let operation: UAFOperation?
  /// The request that was answered before, where this asks for the next.
  package let previousRequest: String?
  /// What the server wants to know, in a text of its own.
  package let context: String?

  package init(operation: UAFOperation?, previousRequest: String? = nil, context: String? = nil) {
    (self.operation, self.previousRequest, self.context) = (operation, previousRequest, context)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try object(text)
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

/// A server's request, with what it says of it (UAF Application API section 8.2).
package struct ReturnUAFRequest: Hashable, Sendable {
  /// As it was sent; ``UAFStatus`` names those that are known.
  package let statusCode: Int
  /// The JSON text of a list of requests.
  package let request: String?
  package let operation: UAFOperation?
  /// How long the request is good, in milliseconds.
  package let lifetimeMillis: Int64?

  package init(
    _ status: UAFStatus, request: String? = nil, operation: UAFOperation? = nil, lifetimeMillis: Int64? = nil
  ) {
    statusCode = status.rawValue
    (self.request, self.operation, self.lifetimeMillis) = (request, operation, lifetimeMillis)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try object(text)
    statusCode = try reader.number("statusCode")
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

/// A client's response on its way to the server (UAF Application API section 8.2).
package struct SendUAFResponse: Hashable, Sendable {
  /// The JSON text of a list of responses.
  package let response: String
  package let context: String?

  package init(response: String, context: String? = nil) {
    (self.response, self.context) = (response, context)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try object(text)
    response = try reader.string("uafResponse", 1...(1 << 20))
    context = try reader.optionalString("context", 0...65_536)
  }

  package var json: JSONObject {
    var object: JSONObject = ["uafResponse": .string(response)]
    object.setOptional("context", context.map { .string($0) })
    return object
  }
}

/// What a server says of a response (UAF Application API section 3.1.1).
package struct ServerResponse: Hashable, Sendable {
  /// What the user is known by from now on.
  package struct Token: Hashable, Sendable {
    /// The kinds that the protocol has.
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

  /// As it was sent; ``UAFStatus`` names those that are known.
  package let statusCode: Int
  package let description: String?
  package let additionalTokens: [Token]
  package let location: String?
  package let postData: String?
  /// The JSON text of a list of requests to go on with.
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
    let reader = try object(text)
    statusCode = try reader.number("statusCode")
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

extension DictionaryReader {
  /// `op`, which may be absent.
  fileprivate func operation() throws(MessageFailure) -> UAFOperation? {
    guard let name = try optionalString("op", 1...32) else { return nil }
    guard let operation = UAFOperation(rawValue: name) else { throw .operation(name) }
    return operation
  }
}
