import SignetCrypto
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

@Suite struct DictionaryTests {
  private static func object(_ text: String) throws -> JSONObject {
    try JSONObject(parsing: Array(text.utf8))
  }

  @Test("ASM requests are read, and malformed ones refused") func moduleRequests() throws {
    let keyID = KeyID.random()
    let pay = try #require(UAFTransaction(contentType: .text, content: Array("Pay".utf8)))
    let requests = [
      ASMRequest(.getInfo, authenticatorIndex: nil), ASMRequest(.getRegistrations, authenticatorIndex: 0),
      ASMRequest(.openSettings, authenticatorIndex: 3),
      ASMRequest(
        .register(appID: "a", username: "u", finalChallenge: "fc", attestationType: .basicSurrogate),
        authenticatorIndex: 1, extensions: [UAFExtension(id: "x", data: "", failIfUnknown: false)]),
      ASMRequest(
        .authenticate(appID: "a", keyIDs: [keyID], finalChallenge: "fc", transactions: [pay]),
        authenticatorIndex: 1),
      ASMRequest(
        .authenticate(appID: "a", keyIDs: [], finalChallenge: "fc", transactions: []), authenticatorIndex: 1),
      ASMRequest(.deregister(appID: "a", keyID: keyID), authenticatorIndex: 1),
      ASMRequest(.deregister(appID: "a", keyID: nil), authenticatorIndex: 1),
    ]
    for request in requests { #expect(try ASMRequest(request.json) == request) }
    let version = #""asmVersion":{"major":1,"minor":1}"#
    for bad in [
      #"{"requestType":"Nothing",\#(version),"authenticatorIndex":1}"#,
      #"{"requestType":"Register",\#(version)}"#,
      #"{"requestType":"GetInfo",\#(version),"authenticatorIndex":1}"#, #"{"requestType":"GetInfo"}"#,
      #"{"requestType":"Register",\#(version),"authenticatorIndex":1}"#,
      #"{"requestType":"Deregister",\#(version),"authenticatorIndex":1,"args":{"appID":"a","keyID":"AAAA"}}"#,
      #"{"requestType":"Deregister",\#(version),"authenticatorIndex":65536,"args":{"appID":"a","keyID":""}}"#,
    ] {
      #expect(throws: MessageFailure.self, "\(bad)") { _ = try ASMRequest(Self.object(bad)) }
    }
  }

  @Test("ASM responses; an unknown status is an error") func moduleAnswers() throws {
    var features = AuthenticatorFeatures(UAFTestKey().statement(), title: "Tests")
    features.supportedExtensionIDs = ["x"]
    let info = AuthenticatorInfo(features, index: 2, isUserEnrolled: true)
    let answers = [
      ASMResponse(.ok), ASMResponse(.ok, .info([info])), ASMResponse(.ok, .info([])),
      ASMResponse(.ok, .assertion([1, 2], scheme: "UAFV1TLV")),
      ASMResponse(.ok, .registrations([AppRegistration(appID: "a", keyIDs: [.random()])])),
      ASMResponse(.userLockout, extensions: [UAFExtension(id: "x", data: "y", failIfUnknown: true)]),
    ]
    for answer in answers { #expect(try ASMResponse(answer.json) == answer) }
    #expect(try ASMResponse(Self.object(#"{"statusCode":200}"#)).status == .error)
    #expect(throws: MessageFailure.self) { _ = try ASMResponse(Self.object(#"{"statusCode":-1}"#)) }
    #expect(throws: MessageFailure.self) {
      _ = try ASMResponse(Self.object(#"{"statusCode":0,"responseData":{}}"#))
    }
    #expect(features.traits.aaid == features.aaid && features.traits.attestationTypes == [.basicSurrogate])
  }

  @Test("discovery data of a client") func discovery() throws {
    let found = DiscoveredAuthenticator(AuthenticatorFeatures(UAFTestKey().statement()))
    #expect(found.features.title == "7357#0001" && found.features.icon == "")
    let data = DiscoveryData(clientVendor: "v", clientVersion: .v1_1, availableAuthenticators: [found])
    #expect(try DiscoveryData(parsing: data.json.bytes) == data)
    var object = data.json
    guard case .array(let list)? = object["availableAuthenticators"], case .object(var first)? = list.first
    else {
      return
    }
    for name in ["title", "description", "icon", "supportedUAFVersions", "aaid"] {
      let value = first[name]
      first[name] = nil
      object["availableAuthenticators"] = [.object(first)]
      #expect(throws: MessageFailure.member("availableAuthenticators[0].\(name)", .missing)) {
        _ = try DiscoveryData(parsing: object.bytes)
      }
      first[name] = value
    }
  }

  @Test("the key of a channel id") func channelID() throws {
    let key = ChannelIDKey(P256.Signing.PrivateKey().publicKey)
    #expect(try ChannelIDKey(parsing: key.text) == key)
    let other = try JSONObject(parsing: try Base64URL.decode(key.text))
    for (name, value) in [("kty", "RSA"), ("crv", "P-384"), ("x", "AAAA"), ("y", nil)]
      as [(String, JSONValue?)]
    {
      var object = other
      object[name] = value
      #expect(throws: MessageFailure.self) { _ = try ChannelIDKey(parsing: Base64URL.encode(object.bytes)) }
    }
    for text in ["unused", "", "$", "AAAA"] {
      #expect(throws: MessageFailure.self) { _ = try ChannelIDKey(parsing: text) }
    }
    var swapped = other
    swapped["x"] = other["y"]
    #expect(throws: MessageFailure.member("cid_pubkey.x", .value)) {
      _ = try ChannelIDKey(parsing: Base64URL.encode(swapped.bytes))
    }
  }

  @Test("HTTP messages survive a round trip") func transport() throws {
    let token = UAFServerResponse.Token(.jwt, "x.y.z")
    let answer = UAFServerResponse(
      .ok, description: "d", additionalTokens: [token], location: "l", postData: "p", newRequest: "[]")
    #expect(try UAFServerResponse(parsing: answer.json.bytes) == answer)
    let request = ReturnUAFRequest(.ok, request: "[]", operation: .registration, lifetimeMillis: 5)
    #expect(try ReturnUAFRequest(parsing: request.json.bytes) == request)
    let asked = GetUAFRequest(operation: .deregistration, previousRequest: "[]", context: "{}")
    #expect(try GetUAFRequest(parsing: asked.json.bytes) == asked)
    #expect(try GetUAFRequest(parsing: Array("{}".utf8)) == GetUAFRequest(operation: nil))
    let sent = SendUAFResponse(response: "[]", context: "{}")
    #expect(try SendUAFResponse(parsing: sent.json.bytes) == sent)
    let message = UAFMessage(protocolMessage: "[]", additionalData: ["a": 1])
    #expect(try UAFMessage(parsing: message.json.bytes) == message)
    for bad in [
      "", "[]", "{}", #"{"statusCode":"1200"}"#,
      #"{"statusCode":1200,"additionalTokens":[{"type":"X","value":"y"}]}"#,
    ] {
      #expect(throws: MessageFailure.self, "\(bad)") { _ = try UAFServerResponse(parsing: Array(bad.utf8)) }
    }
    for bad in [#"{"op":"reg"}"#, #"{"op":1}"#, #"{"context":{}}"#] {
      #expect(throws: MessageFailure.self, "\(bad)") { _ = try GetUAFRequest(parsing: Array(bad.utf8)) }
    }
    #expect(throws: MessageFailure.self) {
      _ = try ReturnUAFRequest(parsing: Array(#"{"statusCode":1200,"lifetimeMillis":-1}"#.utf8))
    }
    #expect(throws: MessageFailure.self) { _ = try SendUAFResponse(parsing: Array("{}".utf8)) }
    #expect(throws: MessageFailure.self) {
      _ = try UAFMessage(parsing: Array(#"{"uafProtocolMessage":[]}"#.utf8))
    }
  }

  @Test("transactions: ASCII of at most 200 characters, pictures with their characteristics")
  func transactions() {
    #expect(UAFTransaction(contentType: .text, content: [UInt8](repeating: 0x41, count: 200)) != nil)
    #expect(UAFTransaction(contentType: .text, content: [UInt8](repeating: 0x41, count: 201)) == nil)
    #expect(UAFTransaction(contentType: .text, content: []) == nil)
    #expect(UAFTransaction(contentType: .text, content: [0xC3, 0xA4]) == nil)
    let look = DisplayPNGCharacteristics(width: 1, height: 1, bitDepth: 1, colourType: 0)
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0]
    #expect(UAFTransaction(contentType: .png, content: png) == nil)
    #expect(UAFTransaction(contentType: .png, content: png, pngCharacteristics: look) != nil)
    #expect(UAFTransaction(contentType: .png, content: [1], pngCharacteristics: look) == nil)
  }

  @Test(
    "requests that a client refuses, with their error codes",
    arguments: [
      (#"{"header":{"upv":{"major":1,"minor":7},"op":"Reg"}}"#, UAFClientError.unsupportedVersion),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg","appID":"\#(String(repeating: "x", count: 513))"}}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAAA","username":"a","policy":{"accepted":[[{"aaid":"ABCD#0001"}]]}}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAA","username":"a","policy":{"accepted":[[{}]]}}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAAA","username":"","policy":{"accepted":[[{}]]}}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAAA","username":"a","policy":{"accepted":[]}}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAAA","username":"a","policy":{"accepted":[[]]}}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAAA","username":"a"}"#,
        .protocolError
      ),
      (
        #"{"header":{"upv":{"major":1,"minor":1},"op":"Auth"},"challenge":"AAAAAAAAAAA","policy":{"accepted":[[{}]]}}"#,
        .protocolError
      ),
      (#"{"uafProtocolMessage":"[]"}"#, .protocolError),
    ])
  func refusedRequests(element: String, error: UAFClientError) {
    let failure = #expect(throws: MessageFailure.self) {
      _ = try RegistrationRequest(parsing: Array("[\(element)]".utf8), versions: [.v1_1])
    }
    #expect(failure?.clientError == error)
  }

  @Test("an unknown critical extension is named") func unknownExtension() {
    let list = [
      UAFExtension(id: "a", data: "", failIfUnknown: false),
      UAFExtension(id: "b", data: "", failIfUnknown: true),
    ]
    #expect(list.firstUnknown()?.id == "b" && list.firstUnknown(except: ["b"]) == nil)
    #expect(MessageFailure.unknownExtension("b").clientError == .unknown)
  }

  @Test("deregistration: a key, a model, or everything as the only entry") func deregistration() throws {
    let key = KeyReference(aaid: AAID(vendor: 1, model: 2), keyID: .random())
    let header = OperationHeader(operation: .deregistration, appID: "a")
    for targets in [[.key(key), .model(key.aaid)], [.everything]] as [[DeregistrationRequest.Target]] {
      let request = DeregistrationRequest(header: header, targets: targets)
      #expect(try DeregistrationRequest(parsing: Array(request.text.utf8), versions: [.v1_1]) == request)
    }
    let both = DeregistrationRequest(header: header, targets: [.everything, .model(key.aaid)])
    #expect(throws: MessageFailure.member("authenticators", .conflict)) {
      _ = try DeregistrationRequest(both.json)
    }
    var object = DeregistrationRequest(header: header, targets: [.model(key.aaid)]).json
    object["authenticators"] = [["aaid": "", "keyID": .string(key.keyID.text)]]
    #expect(throws: MessageFailure.member("authenticators[0].keyID", .conflict)) {
      _ = try DeregistrationRequest(object)
    }
    object["authenticators"] = [["aaid": "ABCD", "keyID": ""]]
    #expect(throws: MessageFailure.member("authenticators[0].aaid", .form)) {
      _ = try DeregistrationRequest(object)
    }
    object["authenticators"] = [["aaid": "ABCD#0001"]]
    #expect(throws: MessageFailure.member("authenticators[0].keyID", .missing)) {
      _ = try DeregistrationRequest(object)
    }
  }

  @Test("padding and the forms of an empty appID are accepted") func lenience() throws {
    var maker = MessageMaker(.registration)
    maker.params["appID"] = .string(MessageMaker.facetID)
    var expectation = try maker.registrationExpectation()
    expectation.context.header = OperationHeader(operation: .registration, appID: "", serverData: "state")
    for appID in ["", nil, MessageMaker.facetID] as [String?] {
      maker.header["appID"] = appID.map { .string($0) }
      _ = try expectation.verify(maker.registration())
    }
    maker.header["appID"] = "ios:bundle-id:other"
    #expect(throws: UAFRefusal.appID) { _ = try expectation.verify(maker.registration()) }
    maker.header["appID"] = ""
    maker.params["appID"] = "ios:bundle-id:other"
    #expect(throws: UAFRefusal.appID) { _ = try expectation.verify(maker.registration()) }
    maker.params["appID"] = .string(MessageMaker.facetID)
    // Blanks and escapes inside, padding outside: the received bytes are hashed.
    let text = maker.params.text(.pretty).replacing("/", with: "\\/")
    var padded = Base64URL.encode(Array(text.utf8))
    while !padded.utf8.count.isMultiple(of: 4) { padded += "=" }
    maker.finalChallengeText = padded
    maker.item = { item in
      guard case .string(var assertion) = item["assertion"] else { return }
      while !assertion.utf8.count.isMultiple(of: 4) { assertion += "=" }
      item["assertion"] = .string(assertion)
      item["exts"] = []
      item["tcDisplayPNGCharacteristics"] = .null
    }
    maker.header["exts"] = .null
    _ = try expectation.verify(maker.registration())
    // Elements in another order, and some unknown ones that may be ignored.
    maker.elements = { elements in
      elements.reverse()
      elements.append(.init(TLVTag(rawValue: 0x0104), [1]))
      elements.append(Spoiled.element(of: .ignorableExtension))
    }
    maker.parts = { $0.reverse() }
    #expect(try expectation.verify(maker.registration()).keys.first?.extensions.map(\.id) == ["x"])
    // A critical extension that the server knows.
    maker.elements = { $0.append(Spoiled.element(of: .criticalExtension)) }
    expectation.context.knownExtensions = ["x"]
    #expect(try expectation.verify(maker.registration()).keys.first?.extensions.first?.isCritical == true)
  }

  @Test("a key handle's access token depends on app, installation, user and caller") func accessToken() {
    let token = KeyHandleAccessToken.bound(appID: "a", asmToken: [1], personaID: "p", callerID: "c")
    #expect(token.count == 32 && token == HashFunction.sha256.digest(of: [0x61, 1, 0x70, 0x63]))
    #expect(token != KeyHandleAccessToken.bound(appID: "a", asmToken: [2], personaID: "p", callerID: "c"))
    #expect(KeyHandleAccessToken.roaming(appID: "a") == HashFunction.sha256.digest(of: [0x61]))
  }
}
