import PushFixture
import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetPush
import SignetTesting
import Testing

@Suite("The encryption of Web Push", .timeLimit(.minutes(10)))
struct WebPushEncryptionTests {
  @Test("the example of RFC 8291 section 5 is made byte for byte")
  func example() throws {
    let receiver = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: SecretBytes(copying: Base64URL.decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
    )
    let sender = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: SecretBytes(copying: Base64URL.decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    )
    let subscription = try WebPushSubscription(
      endpoint: "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", key: receiver.publicKey,
      secret: Base64URL.decode("BTBZMqHH6r4Tts7J_aSIgg"))
    let body = try WebPushEncryption.encrypt(
      Array("When I grow up, I want to be a watermelon".utf8), to: subscription, sender: sender,
      salt: Base64URL.decode("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      Base64URL.encode(body)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8"
        + "wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }
}

@Suite("Web Push", .timeLimit(.minutes(10)), .needsPushServices)
struct WebPushTests {
  private let clock = VirtualClock()
  private let services: PushServices

  init() throws { services = try PushServices() }

  private func dispatcher(_ hosts: WebPushHosts? = nil) -> WebPushDispatcher {
    WebPushDispatcher(
      key: services.signingKey, contact: "mailto:operator@example.org",
      hosts: hosts ?? WebPushHosts([String(services.base.dropFirst("https://".count))]),
      over: services.transport, clock: clock)
  }

  private func target() throws -> PushTarget {
    .webPush(
      try WebPushSubscription(
        endpoint: "\(services.base)/push/abc?x=1", key: services.deviceKey.publicKey,
        secret: services.deviceSecret))
  }

  private var message: PushMessage {
    PushMessage(envelope: "a.b.c.d.e", topic: "T-1", expires: clock.now + 300)
  }

  @Test("another implementation decrypts the message and identifies its sender")
  func request() async throws {
    try services.answer(201)
    try await dispatcher().send(message, to: target())
    let request = try #require(services.requests().first)
    #expect(try request.field(":path") == "/push/abc?x=1")
    #expect(try request.field("ttl") == "300")
    #expect(try request.field("urgency") == "high")
    #expect(try request.field("topic") == "T-1")
    #expect(try request.field("content-encoding") == "aes128gcm")
    let checked = try request.checked()
    #expect(try checked.string("message") == "a.b.c.d.e")
    #expect(try checked.string("key") == Base64URL.encode(services.signingKey.publicKey.x963Representation))
    let claims = try checked.object("claims")
    #expect(try claims.string("aud") == services.base)
    #expect(try claims.string("sub") == "mailto:operator@example.org")
    #expect(try claims.integer("exp") <= clock.now + 86_400)
  }

  @Test("an expired subscription is distinguished from a temporary failure")
  func answers() async throws {
    for status: Int64 in [404, 410] {
      try services.answer(status)
      await #expect(throws: PushFailure.targetGone) { try await dispatcher().send(message, to: target()) }
    }
    // Devices name the endpoint: only the status of its answer leaves this server.
    try services.answer(429, headers: ["retry-after": "3"], body: "inside")
    await #expect(throws: PushFailure.tryAgain(afterSeconds: 3, reason: "status 429")) {
      try await dispatcher().send(message, to: target())
    }
    try services.answer(413, body: #"{"reason":"inside"}"#)
    await #expect(throws: PushFailure.refused(reason: "status 413")) {
      try await dispatcher().send(message, to: target())
    }
  }

  @Test("hosts that the operator did not name are not contacted")
  func hosts() async throws {
    await #expect(throws: PushFailure.targetNotAllowed) {
      try await dispatcher(.browsers).send(message, to: target())
    }
    #expect(try services.requests().isEmpty)
  }

  @Test(
    "a host pattern matches subdomains only",
    arguments: [
      ("updates.push.services.mozilla.com", true), ("web.push.apple.com", true), ("push.apple.com", false),
      (".push.apple.com", false), ("evilpush.apple.com", false), ("web.push.apple.com.evil.org", false),
      ("fcm.googleapis.com.", false), ("fcm.googleapis.com:81", false), ("127.0.0.1", false),
    ])
  func patterns(_ host: String, _ isAllowed: Bool) {
    #expect(WebPushHosts.browsers.allows(host) == isAllowed)
  }
}
