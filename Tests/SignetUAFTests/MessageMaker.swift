import SignetCrypto
import SignetJSON
import SignetUAF
import UAFFixture

/// A server, an app and an authenticator, and the messages between them: valid until they are edited.
struct MessageMaker {
  typealias Element = UAFTestKey.Element

  static let appID = "https://uaf.example.com/facets"
  static let facetID = "ios:bundle-id:com.example.bank"
  static let challenge = [UInt8](1...32)

  var key = UAFTestKey()
  var header: JSONObject
  var params: JSONObject
  /// The text of `fcParams`; `nil` to make it from `params`.
  var finalChallengeText: String?
  var transactionHash: [UInt8] = []
  /// Edits the signed elements.
  var elements: (inout [Element]) -> Void = { _ in }
  /// Edits the elements next to them.
  var parts: (inout [Element]) -> Void = { _ in }
  /// Edits the finished assertion.
  var assertion: (inout [UInt8]) -> Void = { _ in }
  /// Edits the dictionary that contains the assertion.
  var item: (inout JSONObject) -> Void = { _ in }
  /// Edits the message.
  var message: (inout JSONObject) -> Void = { _ in }

  init(_ operation: UAFOperation) {
    header =
      OperationHeader(operation: operation, appID: Self.appID, serverData: "state").json
    params =
      FinalChallengeParams(appID: Self.appID, challenge: Self.challenge, facetID: Self.facetID).json
  }

  // MARK: What the server knows

  func registrationRequest(appID: String? = Self.appID) -> RegistrationRequest {
    RegistrationRequest(
      header: OperationHeader(operation: .registration, appID: appID, serverData: "state"),
      challenge: Self.challenge, username: "alice",
      policy: Policy(accepted: [[MatchCriteria(aaids: [key.aaid])]]))
  }

  func authenticationRequest(_ transactions: [UAFTransaction] = []) -> AuthenticationRequest {
    AuthenticationRequest(
      header: OperationHeader(operation: .authentication, appID: Self.appID, serverData: "state"),
      challenge: Self.challenge, transactions: transactions,
      policy: Policy(accepted: [[MatchCriteria(aaids: [key.aaid], keyIDs: [key.keyID])]]))
  }

  func models(roots: [[UInt8]] = []) throws -> AuthenticatorModels {
    AuthenticatorModels([try AuthenticatorModel(key.statement(roots: roots))])
  }

  func registrationExpectation(
    roots: [[UInt8]] = [], unixTime: Int64 = CertificateAuthority.currentUnixTime()
  ) throws -> RegistrationExpectation {
    RegistrationExpectation(
      registrationRequest(), trustedFacets: [Self.facetID], models: try models(roots: roots),
      unixTime: unixTime)
  }

  func authenticationExpectation(_ transactions: [UAFTransaction] = []) throws -> AuthenticationExpectation {
    AuthenticationExpectation(
      authenticationRequest(transactions), trustedFacets: [Self.facetID], models: try models(),
      keys: [try key.registered()])
  }

  // MARK: What the client sends

  private var text: String { finalChallengeText ?? Base64URL.encode(params.bytes) }

  private var hash: [UInt8] { HashFunction.sha256.digest(of: Array(text.utf8)) }

  /// The assertion of a registration.
  func registrationAssertion() throws -> [UInt8] {
    var signed = key.registrationElements(hash)
    elements(&signed)
    var bytes = try key.registrationAssertion(signed, edit: parts)
    assertion(&bytes)
    return bytes
  }

  /// The assertion of an authentication.
  func authenticationAssertion() throws -> [UInt8] {
    var signed = key.authenticationElements(hash, transactionHash: transactionHash)
    elements(&signed)
    var bytes = try key.authenticationAssertion(signed, edit: parts)
    assertion(&bytes)
    return bytes
  }

  /// The text of a registration response.
  func registration() throws -> [UInt8] { response(try registrationAssertion()) }

  /// The text of an authentication response.
  func authentication() throws -> [UInt8] { response(try authenticationAssertion()) }

  /// The text of a response with an unchanged assertion.
  func response(_ assertion: [UInt8]) -> [UInt8] {
    var item: JSONObject = [
      "assertionScheme": "UAFV1TLV", "assertion": .string(Base64URL.encode(assertion)),
    ]
    self.item(&item)
    var message: JSONObject = [
      "header": .object(header), "fcParams": .string(text), "assertions": [.object(item)],
    ]
    self.message(&message)
    return JSONValue.array([.object(message)]).bytes
  }
}

extension JSONObject {
  /// Sets or removes a member of an object inside this one.
  mutating func set(in path: String..., value: JSONValue?) {
    set(path[...], value)
  }

  private mutating func set(_ path: ArraySlice<String>, _ value: JSONValue?) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      self[name] = value
      return
    }
    guard case .object(var inner) = self[name] else { return }
    inner.set(path.dropFirst(), value)
    self[name] = .object(inner)
  }
}

extension [UAFTestKey.Element] {
  /// Changes the content of the element with a tag.
  mutating func edit(_ tag: TLVTag, _ body: (inout [UInt8]) -> Void) {
    guard let index = firstIndex(where: { $0.tag == tag }) else { return }
    body(&self[index].content)
  }

  /// Removes the element with a tag.
  mutating func remove(_ tag: TLVTag) { removeAll { $0.tag == tag } }
}
