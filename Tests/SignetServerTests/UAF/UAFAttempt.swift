import SignetCrypto
import SignetHTTPServer
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

/// A valid response that a test spoils in one place before it is sent; everything else is valid, including the signatures.
struct UAFAttempt {
  /// The operation of the response.
  var operation = UAFOperation.registration
  /// The context of the relying party's request.
  var context = #"{"username":"alice"}"#
  /// Changes the header.
  var header: (inout JSONObject) -> Void = { _ in }
  /// Changes the content of `fcParams`, which is hashed afterwards.
  var params: (inout JSONObject) -> Void = { _ in }
  /// Replaces `fcParams`; it is hashed.
  var challengeText: String?
  /// Changes the signed elements.
  var elements: (inout [UAFTestKey.Element]) -> Void = { _ in }
  /// Changes the elements next to the signed one.
  var parts: (inout [UAFTestKey.Element]) -> Void = { _ in }
  /// Changes the encoded assertion.
  var assertion: (inout [UInt8]) -> Void = { _ in }
  /// Changes the assertion's dictionary.
  var item: (inout JSONObject) -> Void = { _ in }
  /// Changes the message.
  var message: (inout JSONObject) -> Void = { _ in }
  /// Changes the text of the list.
  var text: (String) -> String = { $0 }

  init(_ operation: UAFOperation) { self.operation = operation }

  private var path: String { operation == .registration ? "registration" : "authentication" }

  /// Gets a request, answers it and sends the answer.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - key: The answering key; for an authentication it is registered.
  ///   - prepare: Runs between the request and its answer.
  /// - Throws: Errors of the setup or the connection.
  /// - Returns: The server's answer.
  func send(
    to server: UAFServer, _ key: UAFTestKey, _ prepare: () async throws -> Void = {}
  ) async throws -> JSONObject {
    let asked = try await server.uaf(
      "/uaf/1.1/request/\(path)",
      ["op": .string(operation.rawValue), "context": .string(context)], isOrdered: true)
    #expect(try asked.integer("statusCode") == 1200)
    let request = try Self.first(of: asked.string("uafRequest"))
    try await prepare()
    return try await server.uaf(
      "/uaf/1.1/\(path)", ["uafResponse": .string(text(try answer(request, key)))])
  }

  /// The spoiled answer to a request.
  func answer(_ request: JSONObject, _ key: UAFTestKey) throws -> String {
    var header = try request.object("header")
    var params: JSONObject = [
      "appID": .string(try header.string("appID")), "challenge": request["challenge"] ?? "",
      "facetID": .string(UAFServer.facet), "channelBinding": [:],
    ]
    self.params(&params)
    self.header(&header)
    let challenge = challengeText ?? Base64URL.encode(params.bytes)
    let hash = HashFunction.sha256.digest(of: Array(challenge.utf8))
    var signed: [UAFTestKey.Element]
    var bytes: [UInt8]
    if operation == .registration {
      signed = key.registrationElements(hash)
      elements(&signed)
      bytes = try key.registrationAssertion(signed, edit: parts)
    } else {
      signed = key.authenticationElements(hash, transactionHash: try Self.transactionHash(request))
      elements(&signed)
      bytes = try key.authenticationAssertion(signed, edit: parts)
    }
    assertion(&bytes)
    var item: JSONObject = ["assertionScheme": "UAFV1TLV", "assertion": .string(Base64URL.encode(bytes))]
    self.item(&item)
    var message: JSONObject = [
      "header": .object(header), "fcParams": .string(challenge), "assertions": [.object(item)],
    ]
    self.message(&message)
    return JSONValue.array([.object(message)]).text
  }

  private static func transactionHash(_ request: JSONObject) throws -> [UInt8] {
    guard case .array(let list)? = request["transaction"], case .object(let first)? = list.first else {
      return []
    }
    return HashFunction.sha256.digest(of: try Base64URL.decode(first.string("content")))
  }

  static func first(of text: String) throws -> JSONObject {
    guard case .array(let list) = try JSONValue(parsing: text), list.count == 1,
      case .object(let message) = list[0]
    else { throw JSONFailure.notAnObject }
    return message
  }
}

/// One place in which a response is spoiled, and the expected status.
struct UAFSpoiling: Sendable, CustomTestStringConvertible {
  let name: String
  let status: Int64
  let spoil: @Sendable (inout UAFAttempt) -> Void

  init(_ name: String, _ status: Int64, _ spoil: @escaping @Sendable (inout UAFAttempt) -> Void) {
    (self.name, self.status, self.spoil) = (name, status, spoil)
  }

  var testDescription: String { name }
}

extension [UAFTestKey.Element] {
  /// Changes the content of the elements with a tag.
  mutating func change(_ tag: TLVTag, _ change: (inout [UInt8]) -> Void) {
    for index in indices where self[index].tag == tag { change(&self[index].content) }
  }

  mutating func remove(_ tag: TLVTag) { removeAll { $0.tag == tag } }

  mutating func double(_ tag: TLVTag) { self += filter { $0.tag == tag } }
}
