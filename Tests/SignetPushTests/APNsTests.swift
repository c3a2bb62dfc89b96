import PushFixture
import SignetJSON
import SignetProtocol
import SignetPush
import SignetTesting
import Testing

@Suite("Apple's push service", .timeLimit(.minutes(10)), .needsPushServices)
struct APNsTests {
  private let clock = VirtualClock()
  private let services: PushServices
  private let dispatcher: APNsDispatcher
  private let target = PushTarget.apns(token: [0x0A, 0xFF])

  init() throws {
    services = try PushServices()
    dispatcher = APNsDispatcher(
      APNsCredentials(
        key: services.signingKey, keyID: "KEY1234567", teamID: "TEAM123456", topic: "org.example.app"),
      base: services.base, over: services.transport, clock: clock)
  }

  private var message: PushMessage {
    PushMessage(envelope: "a.b.c.d.e", topic: "T-1", expires: clock.now + 300)
  }

  @Test("a request has the token, the app, the time and nothing but ciphertext")
  func request() async throws {
    try await dispatcher.send(message, to: target)
    let request = try #require(services.requests().first)
    #expect(try request.field(":path") == "/3/device/0aff")
    #expect(try request.field("apns-topic") == "org.example.app")
    #expect(try request.field("apns-push-type") == "alert")
    #expect(try request.field("apns-expiration") == String(message.expires))
    #expect(try request.field("apns-collapse-id") == "T-1")
    let checked = try request.checked()
    #expect(try checked.object("header").string("kid") == "KEY1234567")
    #expect(try checked.object("claims").string("iss") == "TEAM123456")
    #expect(try checked.object("claims").integer("iat") == clock.now)
    let body = try checked.object("body")
    #expect(try body.string("signet") == "a.b.c.d.e")
    #expect(body.members.map(\.name) == ["aps", "signet"])
  }

  @Test("a provider token is cached for 50 minutes, then renewed")
  func tokenIsKept() async throws {
    let target = target
    func tokenNow() async throws -> String? {
      try await dispatcher.send(message, to: target)
      return try services.requests().last?.field("authorization")
    }
    let first = try await tokenNow()
    clock.advance(by: 50 * 60 - 1)
    #expect(try await tokenNow() == first)
    clock.advance(by: 1)
    #expect(try await tokenNow() != first)
  }

  @Test("a provider token refused as expired is renewed once")
  func expiredToken() async throws {
    try services.answer(403, body: #"{"reason":"ExpiredProviderToken"}"#)
    try await dispatcher.send(message, to: target)
    #expect(try services.requests().count == 2)
    for _ in 1...2 { try services.answer(403, body: #"{"reason":"ExpiredProviderToken"}"#) }
    await #expect(throws: PushFailure.refused(reason: "status 403, ExpiredProviderToken")) {
      try await dispatcher.send(message, to: target)
    }
  }

  @Test(
    "a removed device is distinguished from a temporary failure",
    arguments: [
      (410, #"{"reason":"Unregistered","timestamp":1}"#, PushFailure.targetGone),
      (400, #"{"reason":"BadDeviceToken"}"#, .refused(reason: "status 400, BadDeviceToken")),
      (400, #"{"reason":"DeviceTokenNotForTopic"}"#, .refused(reason: "status 400, DeviceTokenNotForTopic")),
      (400, #"{"reason":"BadTopic"}"#, .refused(reason: "status 400, BadTopic")),
      (403, #"{"reason":"InvalidProviderToken"}"#, .refused(reason: "status 403, InvalidProviderToken")),
      (413, "{", .refused(reason: "status 413")),
      (400, #"{"reason":"\#u{1B}[2J"}"#, .refused(reason: "status 400")),
      (400, #"{"reason":"no word"}"#, .refused(reason: "status 400, with a malformed reason")),
      (500, "", .tryAgain(afterSeconds: nil, reason: "status 500")),
    ])
  func answers(_ status: Int64, _ body: String, _ failure: PushFailure) async throws {
    try services.answer(status, body: body)
    await #expect(throws: failure) { try await dispatcher.send(message, to: target) }
  }

  @Test("a busy service returns its retry time")
  func busy() async throws {
    try services.answer(429, headers: ["retry-after": "7"], body: #"{"reason":"TooManyRequests"}"#)
    await #expect(throws: PushFailure.tryAgain(afterSeconds: 7, reason: "status 429, TooManyRequests")) {
      try await dispatcher.send(message, to: target)
    }
    try services.answer(503, headers: ["retry-after": "99999999"])
    await #expect(throws: PushFailure.tryAgain(afterSeconds: 3_600, reason: "status 503")) {
      try await dispatcher.send(message, to: target)
    }
  }

  @Test("a broken stream is retried")
  func brokenStream() async throws {
    try services.answer(0)
    do {
      try await dispatcher.send(message, to: target)
      Issue.record("it was taken")
    } catch {
      guard case PushFailure.tryAgain(nil, _) = error else {
        Issue.record(error)
        return
      }
    }
  }

  @Test("a target of another service is refused")
  func otherService() async throws {
    await #expect(throws: PushFailure.targetNotAllowed) {
      try await dispatcher.send(message, to: .fcm(token: "x"))
    }
    #expect(try services.requests().isEmpty)
  }
}
