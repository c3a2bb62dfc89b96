import Signet
import SignetCrypto
import SignetJSON
import SignetTesting
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

@Suite("UAF client errors")
struct UAFClientRefusalTests {
  private let device: UAFDevice
  private let party: UAFParty

  init() throws {
    device = try UAFDevice()
    party = try UAFParty()
  }

  /// The error of opening a request with an edited dictionary.
  private func refusal(
    of request: some UAFProtocolMessage, _ edit: (inout JSONObject) -> Void
  ) async -> UAFClientError? {
    var object = request.json
    edit(&object)
    return await refusal(of: JSONValue.array([.object(object)]).text)
  }

  private func refusal(of text: String) async -> UAFClientError? {
    await uafFailure { _ = try await device.client.open(text) }?.clientError
  }

  private static func edit(_ object: inout JSONObject, _ name: String, _ body: (inout JSONObject) -> Void) {
    guard case .object(var inner)? = object[name] else { return }
    body(&inner)
    object[name] = .object(inner)
  }

  @Test("unsupported versions are refused", arguments: [(1, 7), (1, 2), (2, 0), (0, 9)])
  func versions(major: Int64, minor: Int64) async throws {
    let error = await refusal(of: party.registrationRequest()) {
      Self.edit(&$0, "header") { $0["upv"] = ["major": .integer(major), "minor": .integer(minor)] }
    }
    #expect(error == .unsupportedVersion)
  }

  @Test("the supported version of several is chosen, at any position")
  func negotiation() async throws {
    let good = party.registrationRequest().json
    var future = good
    Self.edit(&future, "header") { $0["upv"] = ["major": 1, "minor": 9] }
    future["policy"] = "of another shape"
    for list in [[good, future], [future, good]] {
      guard case .registration = try await device.client.open(JSONValue.array(list.map { .object($0) }).text)
      else {
        Issue.record("not a registration")
        return
      }
    }
    #expect(await refusal(of: JSONValue.array([.object(good), .object(good)]).text) == .protocolError)
  }

  @Test(
    "malformed request lists are refused",
    arguments: [
      "", "{}", "[]", "[1]", "[[]]", "nonsense", "[{}]", #"[{"header":{}}]"#,
      #"{"uafProtocolMessage":"[]"}"#, #"[{"header":{"upv":{"major":1,"minor":1},"op":"Fly"}}]"#,
    ])
  func shapes(text: String) async { #expect(await refusal(of: text) == .protocolError) }

  @Test("a message inside another")
  func nested() async {
    let text = UAFMessage(protocolMessage: party.registrationRequest().text).json.text
    #expect(await refusal(of: text) == .protocolError)
    #expect(await refusal(of: JSONValue.array([.string(text)]).text) == .protocolError)
  }

  typealias Edit = @Sendable (inout JSONObject) -> Void

  static let edits: [(String, Edit)] = [
    ("no header", { $0["header"] = nil }), ("no challenge", { $0["challenge"] = nil }),
    ("a short challenge", { $0["challenge"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 7))) }),
    ("a long challenge", { $0["challenge"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 65))) }),
    ("a challenge that is no base64url", { $0["challenge"] = "a+/b" }),
    ("no policy", { $0["policy"] = nil }), ("an empty policy", { $0["policy"] = [:] }),
    ("nothing accepted", { $0["policy"] = ["accepted": []] }),
    ("an empty combination", { $0["policy"] = ["accepted": [[]]] }),
    ("an aaid that is a text", { $0["policy"] = ["accepted": [[["aaid": "5167#0001"]]]] }),
    ("an aaid of another form", { $0["policy"] = ["accepted": [[["aaid": ["5167-0001"]]]]] }),
    (
      "a key id that is short",
      { $0["policy"] = ["accepted": [[["aaid": ["5167#0001"], "keyIDs": ["AAAA"]]]]] }
    ),
    (
      "a key id that is long",
      {
        let long = Base64URL.encode([UInt8](repeating: 1, count: 2049))
        $0["policy"] = ["accepted": [[["aaid": ["5167#0001"], "keyIDs": [.string(long)]]]]]
      }
    ),
    ("a criterion of null", { $0["policy"] = ["accepted": [[.null]]] }),
    (
      "an appID of 513 characters",
      { edit(&$0, "header") { $0["appID"] = .string("https://" + String(repeating: "a", count: 505)) } }
    ),
    ("an appID that is a number", { edit(&$0, "header") { $0["appID"] = 5 } }),
    ("an empty serverData", { edit(&$0, "header") { $0["serverData"] = "" } }),
    (
      "a long serverData",
      { edit(&$0, "header") { $0["serverData"] = .string(String(repeating: "s", count: 1537)) } }
    ),
    ("no op", { edit(&$0, "header") { $0["op"] = nil } }),
    ("no upv", { edit(&$0, "header") { $0["upv"] = nil } }),
    ("an upv of texts", { edit(&$0, "header") { $0["upv"] = ["major": "1", "minor": "1"] } }),
    (
      "an extension without an id",
      { edit(&$0, "header") { $0["exts"] = [["data": "", "fail_if_unknown": false]] } }
    ),
    (
      "an extension with an empty id",
      { edit(&$0, "header") { $0["exts"] = [["id": "", "data": "", "fail_if_unknown": false]] } }
    ),
  ]

  @Test("missing, mistyped and out-of-range members are refused", arguments: edits.indices)
  func members(index: Int) async throws {
    let (name, edit) = Self.edits[index]
    #expect(await refusal(of: party.registrationRequest(), edit) == .protocolError, "\(name), registration")
    // The key exists, so that its absence cannot be the reason.
    try await device.register(.pin, with: party)
    #expect(
      await refusal(of: party.authenticationRequest(), edit) == .protocolError, "\(name), authentication")
  }

  @Test(
    "a missing, empty or overlong user name is refused",
    arguments: [nil, "", .string(String(repeating: "n", count: 129)), 7] as [JSONValue?])
  func usernames(name: JSONValue?) async {
    #expect(await refusal(of: party.registrationRequest()) { $0["username"] = name } == .protocolError)
  }

  @Test("an unknown critical extension is refused, another one ignored")
  func extensions() async throws {
    let known: JSONValue = ["id": "of.nobody", "data": "x", "fail_if_unknown": false]
    let critical: JSONValue = ["id": "of.nobody", "data": "x", "fail_if_unknown": true]
    try await device.register(.pin, with: party)
    for request: any UAFProtocolMessage in [
      party.registrationRequest(), party.authenticationRequest(),
      party.deregistrationRequest([.everything]),
    ] {
      #expect(await refusal(of: request) { Self.edit(&$0, "header") { $0["exts"] = [critical] } } == .unknown)
      #expect(await refusal(of: request) { Self.edit(&$0, "header") { $0["exts"] = [known] } } == nil)
    }
    // An extension that may be ignored is returned unchanged.
    let header = OperationHeader(
      operation: .registration, appID: UAFDevice.appID, serverData: "state",
      extensions: [UAFExtension(id: "of.nobody", data: "x", failIfUnknown: false)])
    let request = party.registrationRequest("bob", header: header)
    let response = try await device.registration(request).register([
      UAFEnrolment(aaid: try await device.aaid(.pin), authentication: UAFDevice.authentication(.pin))
    ])
    try party.accept(response, to: request)
    let read = try RegistrationResponse(parsing: Array(response.message.utf8), versions: [.v1_1])
    #expect(read.header == header)
  }

  @Test("an unknown extension of a criterion only makes that criterion not match")
  func criterionExtensions() async throws {
    var strict = MatchCriteria(aaids: [UAFAuthenticatorModel.pin.aaid(inHardware: false)])
    strict.extensions = [UAFExtension(id: "of.nobody", data: "", failIfUnknown: true)]
    var lenient = MatchCriteria(aaids: [UAFAuthenticatorModel.password.aaid(inHardware: false)])
    lenient.extensions = [UAFExtension(id: "of.nobody", data: "", failIfUnknown: false)]
    let request = party.registrationRequest(policy: Policy(accepted: [[strict], [lenient]]))
    let registration = try await device.registration(request)
    #expect(registration.combinations.map { $0.map(\.authenticator.kind) } == [[.password]])
    let alone = party.registrationRequest(policy: Policy(accepted: [[strict]]))
    #expect(await refusal(of: alone.text) == .noSuitableAuthenticator)
  }

  @Test("a policy that disallows all authenticators or accepts none is refused")
  func noSuitableAuthenticator() async throws {
    let all = UAFAuthenticatorModel.allCases.map { $0.aaid(inHardware: false) }
    let disallowed = Policy(accepted: UAFParty.anything.accepted, disallowed: [MatchCriteria(aaids: all)])
    #expect(await refusal(of: party.registrationRequest(policy: disallowed).text) == .noSuitableAuthenticator)
    let others = Policy(accepted: [[MatchCriteria(aaids: [AAID(vendor: 1, model: 1)])]])
    #expect(await refusal(of: party.registrationRequest(policy: others).text) == .noSuitableAuthenticator)
    #expect(await refusal(of: party.authenticationRequest().text) == .noSuitableAuthenticator)
    try await device.register(.pin, with: party)
    #expect(
      await refusal(of: party.authenticationRequest(policy: disallowed).text) == .noSuitableAuthenticator)
    #expect(await refusal(of: party.authenticationRequest().text) == nil)
  }

  @Test("a policy check shows no prompt and makes no key")
  func checkPolicy() async throws {
    try await device.client.checkPolicy(party.registrationRequest().text)
    let failure = await uafFailure { try await device.client.checkPolicy(party.authenticationRequest().text) }
    #expect(failure?.clientError == .noSuitableAuthenticator)
    #expect(try await device.client.keys().isEmpty && device.fingerprint.reasons.isEmpty)
  }

  @Test("discovery describes all authenticators")
  func discovery() async throws {
    let data = try DiscoveryData(parsing: Array(try await device.client.discover().utf8))
    #expect(data.supportedVersions == [.v1_1] && data.clientVendor == "Signet")
    #expect(
      data.availableAuthenticators.map(\.features.aaid.text) == [
        "5167#0001", "5167#0002", "5167#0003", "5167#0004", "5167#0005",
      ])
    #expect(data.availableAuthenticators.allSatisfy { $0.features.algorithm == .p256DER })
  }

  @Test(
    "malformed deregistrations are refused",
    arguments: [
      #"[]"#, #"[{"aaid":"","keyID":""},{"aaid":"5167#0001","keyID":""}]"#,
      #"[{"aaid":"5167#0001","keyID":""},{"aaid":"","keyID":""}]"#, #"[{"aaid":"","keyID":"AAAA"}]"#,
      #"[{"aaid":"5167#0001","keyID":"AAAA"}]"#, #"[{"aaid":"5167","keyID":""}]"#, #"[{"keyID":""}]"#,
      #"[{"aaid":"5167#0001"}]"#, #"["5167#0001"]"#, #"{}"#,
    ])
  func deregistrations(authenticators: String) async throws {
    let value = try JSONValue(parsing: authenticators)
    #expect(
      await refusal(of: party.deregistrationRequest([.everything])) { $0["authenticators"] = value }
        == .protocolError)
  }
}
