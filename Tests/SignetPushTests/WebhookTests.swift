import PushFixture
import SignetJSON
import SignetProtocol
import SignetPush
import SignetTesting
import Testing

@Suite("Webhooks", .timeLimit(.minutes(10)), .needsPushServices)
struct WebhookTests {
  private let clock = VirtualClock()
  private let services: PushServices
  private let dispatcher: WebhookDispatcher
  private let target = PushTarget.webhook(address: "desk-17")

  init() throws {
    services = try PushServices()
    dispatcher = WebhookDispatcher(
      url: "\(services.base)/gateway?a=b",
      signature: MessageSignature(services.signingKey, keyID: "server-1"),
      over: services.transport, clock: clock)
  }

  private var message: PushMessage {
    PushMessage(envelope: "a.b.c.d.e", topic: "T-1", expires: clock.now + 300)
  }

  @Test("another implementation verifies method, URL, type and content")
  func request() async throws {
    try services.answer(204)
    try await dispatcher.send(message, to: target)
    let checked = try #require(services.requests().first).checked()
    let covered = try checked.strings("covered")
    let signed = ["@method", "@signature-params", "@target-uri", "content-digest", "content-type"]
    #expect(covered == signed.map { "\"\($0)\"" })
    let body = try checked.object("body")
    #expect(try body.string("address") == "desk-17")
    #expect(try body.string("message") == "a.b.c.d.e")
    #expect(try body.integer("expires") == message.expires)
  }

  @Test("a removed address is distinguished from a temporary failure")
  func answers() async throws {
    try services.answer(410)
    await #expect(throws: PushFailure.targetGone) { try await dispatcher.send(message, to: target) }
    try services.answer(404)
    await #expect(throws: PushFailure.refused(reason: "status 404")) {
      try await dispatcher.send(message, to: target)
    }
    try services.answer(502)
    await #expect(throws: PushFailure.tryAgain(afterSeconds: nil, reason: "status 502")) {
      try await dispatcher.send(message, to: target)
    }
  }
}
