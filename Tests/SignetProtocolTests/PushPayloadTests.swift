import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

@Suite("Push payloads")
struct PushPayloadTests {
  private let key = P256.KeyAgreement.PrivateKey()

  private func payload() throws -> PushPayload {
    PushPayload(
      server: try ServerURL("id.example.org/bank"), container: try ContainerID("container-1"),
      transaction: try TransactionID("transaction-1"))
  }

  @Test("only the recipient decrypts a push payload")
  func roundTrip() throws {
    let payload = try payload()
    let text = try payload.encrypted(to: key.publicKey)
    #expect(text.utf8.count < PushPayload.maximumByteCount)
    #expect(PushPayload.unverifiedContainer(of: text)?.text == "container-1")
    #expect(try PushPayload(decrypting: text, with: key) == payload)
    #expect(throws: WireFailure.notAuthentic) {
      try PushPayload(decrypting: text, with: P256.KeyAgreement.PrivateKey())
    }
  }

  @Test("a push with any character changed, and one cut short, is refused")
  func changed() throws {
    let text = Array(try payload().encrypted(to: key.publicKey))
    for index in text.indices {
      var other = text
      other[index] = other[index] == "A" ? "B" : "A"
      let change = String(other)
      #expect(throws: WireFailure.self) { try PushPayload(decrypting: change, with: key) }
    }
    for count in stride(from: 0, to: text.count, by: 7) {
      #expect(throws: WireFailure.self) {
        try PushPayload(decrypting: String(text.prefix(count)), with: key)
      }
    }
  }

  @Test("every target is written and read back")
  func targets() throws {
    let subscription = try WebPushSubscription(
      endpoint: "https://push.example.net:8443/a?b", key: key.publicKey, secret: [UInt8](0..<16))
    #expect(subscription.authority == "push.example.net:8443")
    #expect(subscription.origin == "https://push.example.net:8443")
    let targets: [PushTarget] = [
      .apns(token: [0, 1, 255]), .fcm(token: "abc:def"), .webPush(subscription), .webhook(address: "desk"),
    ]
    for target in targets { #expect(try PushTarget(target.json) == target) }
    #expect(targets.map(\.service) == PushTarget.Service.allCases)
  }

  @Test(
    "invalid targets are refused",
    arguments: [
      #"{}"#, #"{"service":"smtp"}"#, #"{"service":"apns"}"#, #"{"service":"apns","token":""}"#,
      #"{"service":"apns","token":"*"}"#, #"{"service":"fcm","token":"a b"}"#,
      #"{"service":"fcm","token":""}"#,
      #"{"service":"webhook","address":"\u0000"}"#,
      #"{"service":"webpush","endpoint":"https://a.example","p256dh":"AA","auth":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
    ])
  func refusedTargets(_ text: String) throws {
    let object = try JSONObject(parsing: Array(text.utf8))
    #expect(throws: WireFailure.self) { try PushTarget(object) }
  }

  @Test(
    "endpoints other than plain https URLs are refused",
    arguments: [
      "http://a.example/", "https://", "https:///a", "https://a b/", "https://u@a.example/",
      "https://a.example#x",
      "https://a.example:0/", "https://a.example:65536/", "https://a.example:x/", "https://[::1]/",
      "https://a:1:2/", "https://a:0443/", "https://0x7f.1/", "https://b%61nk.example/",
      "https://ä.example/", "https://a.example/" + String(repeating: "a", count: 1_024),
    ])
  func refusedEndpoints(_ endpoint: String) {
    #expect(throws: WireFailure.self) {
      try WebPushSubscription(endpoint: endpoint, key: key.publicKey, secret: [UInt8](0..<16))
    }
  }
}
