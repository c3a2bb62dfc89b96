import SignetJSON
import SignetProtocol

/// A refusal, which the API description defines once for all endpoints.
package struct Refusal: Sendable {
  let name: String
  package let status: Int
  let text: String
  /// The schemas of the body, by media type.
  let content: [(mediaType: String, schema: JSONSchema)]
  var headers: JSONObject = [:]

  /// The refusal in OpenAPI's form.
  var json: JSONObject {
    var json: JSONObject = ["description": .string(text)]
    if !headers.isEmpty { json["headers"] = .object(headers) }
    var content: JSONObject = [:]
    for (type, schema) in self.content { content[type] = ["schema": .object(schema.json)] }
    json["content"] = .object(content)
    return json
  }

  private static let retryAfter: JSONObject = [
    "Retry-After": [
      "required": true, "description": "Seconds.", "schema": ["type": "integer", "minimum": 0],
    ]
  ]
  private static let authenticate: JSONObject = [
    "WWW-Authenticate": ["required": true, "schema": ["type": "string"]]
  ]

  /// Returns a schema that limits a member of a named object to some codes.
  private static func choosing(_ codes: [String], in member: String, of schema: JSONSchema) -> JSONSchema {
    var alternatives: [JSONValue] = [.object(schema.json)]
    if !codes.isEmpty {
      let choice: JSONObject = ["enum": .array(codes.map { .string($0) })]
      alternatives.append(["properties": .object([member: .object(choice)])])
    }
    return JSONSchema(["allOf": .array(alternatives)], definitions: schema.definitions)
  }

  // MARK: Problems (RFC 9457)

  /// Creates a refusal with the problem codes of its status.
  private init(_ name: String, _ status: Int, _ text: String, headers: JSONObject = [:]) {
    let codes = Problem.Code.allCases.filter { $0.status == status }
    self.name = name
    self.status = status
    self.text = text
    self.headers = headers
    content = [
      (
        Problem.mediaType,
        Self.choosing(codes.map { "urn:signet:problem:\($0.rawValue)" }, in: "type", of: Self.problem)
      )
    ]
  }

  /// The schema of every problem.
  static let problem = JSONSchema.message(
    [
      "type": .string.described("`urn:signet:problem:` and a stable code."),
      "title": Shape<String>.text(1...).schema, "status": Shape<Int64>.integer(400...599).schema,
      "detail": .string.described("What to do about it."),
      "retryAfter": Shape<Int64>.integer(0...).schema.described("Seconds."),
    ], optional: ["detail", "retryAfter"]
  ).described("RFC 9457.").named("Problem")

  static let malformed = Refusal(
    "Malformed", 400, "The request is malformed; `detail` names the member.")
  static let unauthorized = Refusal(
    "Unauthorized", 401, "The authentication is missing, wrong, replayed or expired.", headers: authenticate)
  static let forbidden = Refusal(
    "Forbidden", 403, "Not allowed with this API key, invite, device, number or answer.")
  static let unknown = Refusal("Unknown", 404, "The resource does not exist.")
  static let conflict = Refusal("Conflict", 409, "The resource already exists, or has ended.")
  static let gone = Refusal("Gone", 410, "The transaction has expired.")
  static let lengthRequired = Refusal(
    "LengthRequired", 411,
    "The body is chunked, without a `Content-Length`; the server closes the connection.")
  static let tooLarge = Refusal(
    "TooLarge", 413, "The body exceeds 64 KiB, the header section 8 KiB or the request line 4 KiB.")
  static let mediaType = Refusal("MediaType", 415, "The body is not application/json.")
  static let contentRefused = Refusal(
    "ContentRefused", 422, "The text to display breaks the rules of docs/protocol.md section 5.1.")
  static let tooMany = Refusal(
    "TooMany", 429, "Too many requests were sent to the user, or the address must wait.", headers: retryAfter)
  static let failure = Refusal("Failure", 500, "Server error; nothing was changed.")
  static let busy = Refusal("Busy", 503, "The server is overloaded or stopping.", headers: retryAfter)

  // MARK: OpenID Connect

  private init(
    openID name: String, _ status: Int, _ text: String, _ codes: [OpenIDFailure.Code],
    orProblem: Bool = false, headers: JSONObject = [:]
  ) {
    self.name = name
    self.status = status
    self.text = text
    self.headers = headers
    let schema = Self.choosing(codes.map(\.rawValue), in: "error", of: OpenIDError.described)
    content = [("application/json", schema)] + (orProblem ? [(Problem.mediaType, Self.problem)] : [])
  }

  static let openIDRefusal = Refusal(
    openID: "OpenIDRefusal", 400, "RFC 6749 section 5.2 and CIBA sections 11 and 13.",
    [
      .invalidRequest, .invalidScope, .unauthorizedClient, .expiredLoginHintToken, .unknownUserID,
      .missingUserCode, .invalidUserCode, .invalidBindingMessage, .unsupportedGrantType, .invalidGrant,
      .authorizationPending, .slowDown, .expiredToken, .accessDenied, .transactionFailed,
    ], orProblem: true)
  static let openIDClient = Refusal(
    openID: "OpenIDClient", 401, "The client is not authenticated.", [.invalidClient],
    headers: authenticate)
  static let openIDDenial = Refusal(
    openID: "OpenIDDenial", 403, "Too many requests were sent to the user.", [.accessDenied],
    headers: [
      "Retry-After": ["description": "Seconds.", "schema": ["type": "integer", "minimum": 0]]
    ])
  static let openIDFailure = Refusal(
    openID: "OpenIDFailure", 500, "Server error; nothing was changed.", [.serverError],
    orProblem: true)
  static let openIDBusy = Refusal(
    openID: "OpenIDBusy", 503, "The server is overloaded or stopping.", [.temporarilyUnavailable],
    orProblem: true, headers: retryAfter)

  // MARK: UAF

  private init(uaf name: String, _ status: Int, _ text: String, _ codes: [UAFWebFailure.Code] = []) {
    self.name = name
    self.status = status
    self.text = text
    let schema = Self.choosing(codes.map(\.rawValue), in: "code", of: UAFError.described)
    content = [("application/json", schema)]
  }

  static let uafMalformed = Refusal(uaf: "UAFMalformed", 400, "The request is malformed.", [.malformed])
  static let uafUnauthorized = Refusal(
    uaf: "UAFUnauthorized", 401, "The caller is not authenticated, or is not the owner.",
    [.unauthorized, .signatureInvalid, .clockSkewTooBig, .requestReplayed, .notKeyOwner, .otherRequest])
  static let uafForbidden = Refusal(
    uaf: "UAFForbidden", 403, "The user does not exist, or the operation is not allowed.")
  static let uafUnknown = Refusal(uaf: "UAFUnknown", 404, "The resource does not exist.")
  static let uafAccept = Refusal(
    uaf: "UAFAccept", 406, "The client does not accept the media type of the response.")
  static let uafMediaType = Refusal(uaf: "UAFMediaType", 415, "The media type of the body is not supported.")
  static let uafUnprocessable = Refusal(
    uaf: "UAFUnprocessable", 422, "The name is in use, or the dispatcher is not set up.",
    [.nameTaken, .dispatcherUnavailable, .targetsTooMany])
  static let uafTooMany = Refusal(
    uaf: "UAFTooMany", 429,
    "This address has too many unauthenticated requests open, or too many requests were sent to the user.",
    [.tooManyRequests, .transactionTooMany])
  static let uafFailure = Refusal(uaf: "UAFFailure", 500, "Server error; nothing was changed.")
  static let uafBusy = Refusal(uaf: "UAFBusy", 503, "Try again in a moment.")
}

/// An error answer of OpenID Connect.
struct OpenIDError: Message {
  let error: String, text: String?

  static let schema = MessageSchema(Self.init, named: "OpenIDError") {
    Member("error", \Self.error)
    Member("error_description", \Self.text)
  }
}

/// An error answer of UAF's services.
struct UAFError: Message {
  let status: Int64, error: String, code: String?

  static let schema = MessageSchema(Self.init, named: "UAFRefusal") {
    Member("status", \Self.status)
    Member("error", \Self.error)
    Member("code", \Self.code)
  }
}
