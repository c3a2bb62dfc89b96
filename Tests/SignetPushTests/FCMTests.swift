import PushFixture
import SignetJSON
import SignetProtocol
import SignetPush
import SignetTesting
import Testing

@Suite("Firebase Cloud Messaging", .timeLimit(.minutes(10)), .needsPushServices)
struct FCMTests {
  private let clock = VirtualClock()
  private let services: PushServices
  private let dispatcher: FCMDispatcher
  private let target = PushTarget.fcm(token: "device:token_1")

  private static func keyFile(_ services: PushServices) -> JSONObject {
    [
      "type": "service_account", "project_id": "signet-1", "private_key_id": "k1",
      "private_key": .string(services.rsaPEM), "client_email": "push@signet-1.example",
      "token_uri": .string("\(services.base)/token"),
    ]
  }

  init() throws {
    services = try PushServices()
    dispatcher = FCMDispatcher(
      try FCMServiceAccount(keyFile: JSONValue.object(Self.keyFile(services)).bytes), base: services.base,
      over: services.transport, clock: clock)
  }

  private var message: PushMessage {
    PushMessage(envelope: "a.b.c.d.e", topic: "T-1", expires: clock.now + 300)
  }

  @Test("a message is sent with the service account's access token")
  func request() async throws {
    try await dispatcher.send(message, to: target)
    let requests = try services.requests()
    try #require(requests.count == 2)
    let claims = try requests[0].checked().object("claims")
    #expect(try claims.string("iss") == "push@signet-1.example")
    #expect(try claims.string("aud") == "\(services.base)/token")
    #expect(try claims.string("scope") == "https://www.googleapis.com/auth/firebase.messaging")
    #expect(try claims.integer("exp") == clock.now + 3_600)
    #expect(try requests[0].checked().object("header").string("kid") == "k1")
    #expect(try requests[1].field(":path") == "/v1/projects/signet-1/messages:send")
    let sent = try requests[1].checked().object("body").object("message")
    #expect(try sent.string("token") == "device:token_1")
    #expect(try sent.object("data").string("signet") == "a.b.c.d.e")
    #expect(try sent.object("android").string("ttl") == "300s")
    #expect(sent["notification"] == nil)
  }

  @Test("an access token is cached until a minute before its expiry, and renewed once if refused")
  func tokenIsKept() async throws {
    for _ in 1...2 { try await dispatcher.send(message, to: target) }
    #expect(try services.requests().count == 3)
    clock.advance(by: 3_599 - 60)
    try await dispatcher.send(message, to: target)
    #expect(try services.requests().count == 2)
    try services.answer(401, body: "{}")
    try await dispatcher.send(message, to: target)
    #expect(try services.requests().count == 3)
    for _ in 1...2 { try services.answer(401, body: "{}") }
    await #expect(throws: PushFailure.refused(reason: "status 401")) {
      try await dispatcher.send(message, to: target)
    }
  }

  @Test(
    "a removed device is distinguished from a temporary failure",
    arguments: [
      (404, "NOT_FOUND", "UNREGISTERED", PushFailure.targetGone),
      (400, "INVALID_ARGUMENT", "", .refused(reason: "status 400, INVALID_ARGUMENT")),
      (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", .refused(reason: "status 403, SENDER_ID_MISMATCH")),
      (
        429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED",
        .tryAgain(afterSeconds: 10, reason: "status 429, QUOTA_EXCEEDED")
      ),
      (503, "UNAVAILABLE", "", .tryAgain(afterSeconds: 10, reason: "status 503, UNAVAILABLE")),
    ])
  func answers(_ status: Int64, _ name: String, _ code: String, _ failure: PushFailure) async throws {
    let detail: JSONObject = [
      "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code),
    ]
    let error: JSONObject = [
      "code": .integer(status), "status": .string(name),
      "details": .array(code.isEmpty ? [] : [.object(detail)]),
    ]
    try services.answer(
      status, headers: ["retry-after": "10"], body: JSONValue.object(["error": .object(error)]).text)
    await #expect(throws: failure) { try await dispatcher.send(message, to: target) }
  }

  @Test(
    "an unusable key file is refused with the reason",
    arguments: ["project_id", "client_email", "private_key", "private_key_id", "token_uri"])
  func keyFiles(_ member: String) throws {
    var file = JSONObject()
    for (name, value) in Self.keyFile(services).members where name != member { file[name] = value }
    let missing = #expect(throws: PushSettingsFailure.self) {
      try FCMServiceAccount(keyFile: JSONValue.object(file).bytes)
    }
    #expect(missing?.description.contains(member) == true)
    file[member] = .string("a b")
    guard member == "project_id" || member == "private_key" else { return }
    #expect(throws: PushSettingsFailure.self) {
      try FCMServiceAccount(keyFile: JSONValue.object(file).bytes)
    }
  }
}
