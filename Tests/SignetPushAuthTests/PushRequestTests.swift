import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetPushAuth
import Testing

@Suite("Requests of authenticator apps to their server")
struct PushRequestTests {
  private static let base = "https://am.example/openam/json/push/sns/message"
  private let endpoints: PushAuthEndpoints
  private let device: PushAuthDevice

  init() throws {
    endpoints = try PushAuthEndpoints(
      registration: Self.base + "?_action=register", authentication: Self.base + "?_action=authenticate")
    device = try PushAuthDevice(token: PushAuthDevice.token(of: [0xAB, 1]), name: "My phone")
  }

  private func submission(_ request: PushAuthRequest) throws -> PushAuthSubmission {
    try PushAuthSubmission(parsing: request.body.bytes, for: request.action)
  }

  @Test("registration: URL, header fields, claims") func registration() throws {
    let key = try PushSamples.key()
    let request = PushAuthRequest.registration(
      of: PushSamples.mechanism, messageID: "REGISTER:1", challenge: PushSamples.challenge, device: device,
      at: endpoints, cookie: "amlbcookie=01", key: key)
    #expect(request.url == Self.base + "?_action=register" && request.body["messageId"] == "REGISTER:1")
    #expect(request.headers.map(\.name) == ["Content-Type", "Accept-API-Version", "Cookie"])
    #expect(
      request.headers.map(\.value) == [
        "application/json", "resource=1.0, protocol=1.0", "amlbcookie=01",
      ])
    let claims = try key.claims(of: request.body.string("jwt"))
    #expect(
      claims == [
        "response": .string(key.response(to: PushSamples.challenge)),
        "mechanismUid": .string(PushSamples.mechanism), "deviceId": "AB01", "deviceName": "My phone",
        "deviceType": "ios", "communicationType": "apns",
      ])
    let (mechanism, read) = try submission(request).registration(with: key, challenge: PushSamples.challenge)
    #expect(mechanism == PushSamples.mechanism && read == device)
    #expect(throws: PushAuthFailure.wrongResponse) {
      try submission(request).registration(with: key, challenge: [1])
    }
    #expect(throws: PushAuthFailure.token(.invalidSignature)) {
      try submission(request).registration(with: PushSamples.key([1]), challenge: PushSamples.challenge)
    }
    var dumped = "\(request) \(try submission(request))"
    dump(request, to: &dumped)
    #expect(!dumped.contains("AB01") && !dumped.contains("amlb"))
  }

  @Test("answers: approval, denial, number, biometric") func answers() throws {
    let key = try PushSamples.key()
    for (kind, answer, expected) in [
      (.default, .approve, [:]), (.default, .deny, ["deny": true]),
      (.challenge, .number(" 34 "), ["challengeResponse": "34"]), (.challenge, .deny, ["deny": true]),
      (.biometric, .approveRecognised, [:]), (.biometric, .deny, ["deny": true]),
    ] as [(PushAuthKind, PushAuthAnswer, JSONObject)] {
      let message = PushSamples.message(kind: kind)
      let request = try PushAuthRequest.answer(answer, to: message, at: endpoints, key: key)
      #expect(request.url == Self.base + "?_action=authenticate" && request.cookie == "amlbcookie=01")
      #expect(request.body["messageId"] == "AUTHENTICATE:1" && request.body.count == 2)
      var claims = try key.claims(of: request.body.string("jwt"))
      #expect(claims["response"] == .string(key.response(to: PushSamples.challenge)))
      claims["response"] = nil
      #expect(claims == expected)
      let read = try submission(request).answer(with: key, challenge: PushSamples.challenge)
      #expect(
        read.isDenied == (answer == .deny)
          && read.number == (kind == .challenge && answer != .deny ? "34" : nil))
    }
    #expect(throws: PushAuthFailure.self) {
      try PushAuthRequest.answer(.approve, to: PushSamples.message(kind: .biometric), at: endpoints, key: key)
    }
  }

  @Test("a new device token; a token that names another mechanism than its body is refused") func update()
    throws
  {
    let key = try PushSamples.key()
    let request = PushAuthRequest.update(
      of: PushSamples.mechanism, userID: "demo", device: device, at: endpoints, cookie: nil, key: key)
    #expect(request.url == Self.base + "?_action=refresh" && request.cookie == nil)
    #expect(
      request.body["mechanismUid"] == .string(PushSamples.mechanism) && request.body["username"] == "demo")
    let read = try submission(request)
    #expect(try read.device(with: key) == device)
    #expect(read.userID == "demo" && read.mechanismID == PushSamples.mechanism)
    var other = request.body
    other["mechanismUid"] = "other"
    let crossed = try PushAuthSubmission(parsing: other.bytes, for: .refresh)
    #expect(throws: PushAuthFailure.unknownMechanism) { try crossed.device(with: key) }
    // The newer apps: userId, and no mechanism in the token.
    var claims = try key.claims(of: request.body.string("jwt"))
    claims["mechanismUid"] = nil
    let newer: JSONObject = ["mechanismUid": "m", "jwt": .string(key.sign(claims)), "userId": "u"]
    let submission = try PushAuthSubmission(parsing: newer.bytes, for: .refresh)
    #expect(try submission.userID == "u" && submission.device(with: key) == device)
  }

  @Test("malformed bodies are refused") func malformed() throws {
    for (body, failure) in [
      ("", .malformed(reason: "is not a JSON object")), ("[]", .malformed(reason: "is not a JSON object")),
      ("{}", .missing("jwt")), (#"{"jwt":"x"}"#, .missing("messageId")),
      (#"{"jwt":"","messageId":"m"}"#, .missing("jwt")), (#"{"jwt":1,"messageId":"m"}"#, .missing("jwt")),
    ] as [(String, PushAuthFailure)] {
      #expect(throws: failure) { try PushAuthSubmission(parsing: Array(body.utf8), for: .register) }
    }
    #expect(throws: PushAuthFailure.missing("mechanismUid")) {
      try PushAuthSubmission(parsing: Array(#"{"jwt":"x","messageId":"m"}"#.utf8), for: .refresh)
    }
    #expect(throws: PushAuthFailure.malformed(reason: "is too long")) {
      try PushAuthSubmission(parsing: [UInt8](repeating: 0x20, count: 10_000_000), for: .register)
    }
    for body in [#"{"jwt":"x","messageId":"m"}"#, #"{"jwt":"a.b.c","messageId":"m"}"#] {
      let submission = try PushAuthSubmission(parsing: Array(body.utf8), for: .authenticate)
      #expect(throws: PushAuthFailure.self) { try submission.answer(with: PushSamples.key(), challenge: [1]) }
    }
  }

  @Test("any value of deny except false is a denial") func denials() throws {
    let key = try PushSamples.key()
    for (value, isDenied) in [
      (nil, false), (false, false), ("false", false), (.null, false), (true, true), ("true", true), (1, true),
      (0, true), ("", true), ([:], true),
    ] as [(JSONValue?, Bool)] {
      var claims: JSONObject = ["response": .string(key.response(to: [7]))]
      claims["deny"] = value
      let body: JSONObject = ["messageId": "m", "jwt": .string(key.sign(claims))]
      let submission = try PushAuthSubmission(parsing: body.bytes, for: .authenticate)
      #expect(try submission.answer(with: key, challenge: [7]).isDenied == isDenied)
    }
  }

  @Test(
    "endpoints that are refused",
    arguments: [
      ("http://a.example/p", "http://a.example/p", .insecureEndpoint("registration endpoint")),
      ("https://a.example/p", "http://a.example/p", .insecureEndpoint("authentication endpoint")),
      ("nonsense", "https://a.example", .insecureEndpoint("registration endpoint")),
      ("ftp://a.example", "ftp://a.example", .insecureEndpoint("registration endpoint")),
      ("https://a.example/p", "https://b.example/p", .endpointsApart),
      ("https://a.example/p", "https://a.example:8443/p", .endpointsApart),
      ("https://a.example/p", "https://a.example.evil/p", .endpointsApart),
      (
        "https://a.example@evil/p", "https://evil/p",
        .invalid("registration endpoint", reason: "is not a valid https URL without a user")
      ),
      (
        "https:///p", "https:///p",
        .invalid("registration endpoint", reason: "is not a valid https URL without a user")
      ),
      (
        "https://a.example/a/../b", "https://a.example/b",
        .invalid("registration endpoint", reason: "has .. in its path")
      ),
      (
        "https://a.example/\r\nX", "https://a.example/b",
        .invalid("registration endpoint", reason: "is not a valid https URL without a user")
      ),
    ] as [(String, String, PushAuthFailure)])
  func endpointRefusals(registration: String, authentication: String, failure: PushAuthFailure) {
    #expect(throws: failure) {
      try PushAuthEndpoints(registration: registration, authentication: authentication)
    }
  }

  @Test("accepted endpoints, and the endpoint of a token renewal") func endpointForms() throws {
    for (registration, update) in [
      ("https://a.example/p?_action=register", "https://a.example/p?_action=refresh"),
      ("https://register.example/register", "https://register.example/register?_action=refresh"),
      ("https://a.example/p?x=1&_action=register&y=2", "https://a.example/p?x=1&_action=refresh&y=2"),
      ("https://a.example/p?x=register", "https://a.example/p?x=register&_action=refresh"),
    ] {
      #expect(
        try PushAuthEndpoints(registration: registration, authentication: registration).update == update)
    }
    // The same origin in another form.
    _ = try PushAuthEndpoints(registration: "HTTPS://A.example:443/p", authentication: "https://a.example/q")
    #expect(throws: PushAuthFailure.self) {
      try PushAuthEndpoints(
        registration: "https://a.example/" + String(repeating: "a", count: 3000),
        authentication: "https://a.example")
    }
  }

  @Test("devices, and cookies that would end a line") func devices() throws {
    #expect(PushAuthDevice.token(of: []) == "" && PushAuthDevice.token(of: [0, 255]) == "00FF")
    #expect(throws: PushAuthFailure.missing("device token")) { try PushAuthDevice(token: "", name: "") }
    for (token, name, platform) in [
      ("a b", "", "ios"), ("a", "a\u{0}", "ios"), ("a", "", ""), ("a", "", "i os"),
      (String(repeating: "a", count: 4097), "", "ios"),
    ] {
      #expect(throws: PushAuthFailure.self) {
        try PushAuthDevice(token: token, name: name, platform: platform)
      }
    }
    for cookie in ["a=b\r\nX: y", "", "ä=b"] {
      let request = PushAuthRequest.update(
        of: "m", userID: nil, device: device, at: endpoints, cookie: cookie, key: try PushSamples.key())
      #expect(request.cookie == nil)
    }
  }
}
