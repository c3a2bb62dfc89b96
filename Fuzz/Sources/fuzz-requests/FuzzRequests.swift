import LibFuzzer
import SignetJSON
import SignetProtocol
import SignetPushAuth
@testable import SignetStorage

// The parsers of requests are not public: endpoints return their results.
@testable import SignetHTTPServer
@testable import SignetServer

/// Requests to a whole server: the input names an endpoint, and has header fields and a body.
@main struct FuzzRequests {
  static func main() { LibFuzzer.run(preparing: { _ = endpoints }, check) }

  /// All endpoints; the data of their servers is removed.
  private static let endpoints = FuzzedServer.run { server in
    Dictionary(server.routes.map { ($0.endpoint.id, $0.definition) }) { first, _ in first }
  }

  private static func check(_ input: [UInt8]) {
    let parts = RequestParts(input)
    checkFields(parts)
    checkMessages(parts)
    checkTexts(String(decoding: input, as: UTF8.self))
    guard let definition = endpoints[parts.endpoint] else { return }
    FuzzedServer.run { server in
      guard let request = await server.request(parts, to: definition.description),
        let response = await server.response(to: request, of: definition.description)
      else { return }
      check(response, of: definition.description)
    }
  }

  /// An answer is in the description, and is no server error.
  private static func check(_ response: ServerResponse, of endpoint: EndpointDescription) {
    require(response.status < 500, "no request makes a server fail")
    let statuses = endpoint.answers.map(\.status) + endpoint.refusals.map(\.status)
    require(statuses.contains(response.status), "an answer is described")
    require(response.headers.fields.allSatisfy(\.isValid), "nothing ends a line early")
    if response.headers["Content-Type"]?.contains("json") ?? false {
      let limits = JSONLimits(maximumByteCount: 1 << 24, maximumMemberCount: 1 << 20)
      _ = made("JSON") { () throws(JSONFailure) in try JSONValue(parsing: response.body, limits: limits) }
    }
  }

  // MARK: Messages

  /// The body and the query, as each endpoint would read them.
  private static func checkMessages(_ parts: RequestParts) {
    var request = parts.request
    request.headers = ["Content-Type": "application/json"]
    for case let endpoint as any FuzzedEndpoint in endpoints.values { endpoint.check(request) }
  }

  // MARK: Header fields

  private static func checkFields(_ parts: RequestParts) {
    let request = parts.request
    if let seconds = request.preferredWait {
      require((1...WaitingRequest.longestWait).contains(seconds), "a wait is bounded")
    }
    let isJSON = succeeds { () throws(Problem) in try requireJSON(request) }
    let field = request.headers["Content-Type"]
    require(!isJSON || (field?.lowercased().contains("application/json") ?? false), "JSON is called JSON")
    for type in [UAFNames.mediaType, "application/json"] {
      let isOfType = succeeds { () throws(UAFWebFailure) in
        try UAFMediaTypes.check(request, sent: type, answered: type)
      }
      require(
        !isOfType || (field?.lowercased().contains(type) ?? false), "a body is of the type that it says")
    }
    _ = accepted { () throws(OpenIDFailure) in
      try FormParameters(contentType: field, body: request.body)
    }
    if let key = taken({ () throws(Problem) in
      try APIKeyService.parts(request.headers["Authorization"])
    }) {
      require(key.id.text.utf8.count + key.secret.utf8.count <= 256, "a key is bounded")
      require(!key.id.text.contains("_"), "an id ends at the first line")
    }
    if let claims = accepted({ () throws(JSONFailure) in try JSONObject(parsing: request.body) }) {
      for isBody in [false, true] {
        do { try UAFDevices.check(claims, are: request, isBody: isBody) } catch {
          require((400..<500).contains(Dialect.status(of: error)), "a refusal is the sender's fault")
        }
      }
    }
  }

  private static func checkTexts(_ text: String) {
    if let parts = Handshake.parts(text) {
      for purpose in [Handshake.Purpose.activation, .renewal] {
        require(
          Handshake(opening: parts.sealed, under: FuzzedServer.handshakeKey, for: purpose) == nil,
          "nothing opens that the server did not seal")
      }
    }
    let codes = UAFResponses.codes(in: text)
    for code in [codes.asm, codes.client].compactMap(\.self) {
      require((0...0xFFFF).contains(code), "a status is one of the protocol's")
    }
    do {
      let key = try UAFTargets.key(text, "key")
      require(key.count == 65 && key.first == 4, "a key is a point")
    } catch { require(Dialect.status(of: error) == 400, "a refusal is the sender's fault") }
    for action in PushAuthAction.allCases {
      if let id: ID<PushAuthMessageRecord> = PushAuthService.id(in: text, of: action) {
        require(
          text.hasSuffix(id.text) && id.text.utf8.count < text.utf8.count, "an id is the end of a message's")
      }
    }
  }

  private static func succeeds<Failure: Error>(_ check: () throws(Failure) -> Void) -> Bool {
    do throws(Failure) {
      try check()
      return true
    } catch {
      require((400..<500).contains(Dialect.status(of: error)), "a refusal is the sender's fault")
      return false
    }
  }

  private static func taken<Value>(_ read: () throws(Problem) -> Value) -> Value? {
    do throws(Problem) { return try read() } catch {
      require((400..<500).contains(error.code.status), "a refusal is the sender's fault")
      return nil
    }
  }
}

extension Dialect {
  /// Returns the status of a rejection in any protocol; 500 for other errors.
  fileprivate static func status(of error: any Error) -> Int {
    switch error {
    case let problem as Problem: problem.code.status
    case let failure as UAFWebFailure: failure.status
    default: 500
    }
  }
}

/// An endpoint with the parser of its requests.
private protocol FuzzedEndpoint {
  func check(_ request: ServerRequest)
}

extension Endpoint: FuzzedEndpoint {
  /// A value that is read, printed and read again is printed in the same way.
  fileprivate func check(_ request: ServerRequest) {
    let value: Input
    do {
      try input.checkTypes(request)
      value = try input.read(request)
    } catch {
      require((400..<500).contains(Dialect.status(of: error)), "a refusal is the sender's fault")
      return
    }
    if let message = value as? any Message { checkPrinting(message) }
  }
}

private func checkPrinting<Printed: Message>(_ message: Printed) {
  let json = message.json
  let again = made("a printed message") { () throws(Problem) in try Printed(json) }
  require(again.json == json, "printing a message loses nothing")
}
