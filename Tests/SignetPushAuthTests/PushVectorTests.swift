import Foundation
import SignetCrypto
import SignetJSON
import SignetPushAuth
import Testing

/// The values of `docs/protocol.md` section 15, computed by a script without our code.
@Suite struct PushVectorTests {
  private let vector: JSONObject
  private let key: PushAuthKey
  private let device: PushAuthDevice
  private let endpoints: PushAuthEndpoints

  init() throws {
    let url = try #require(
      Bundle.module.url(forResource: "pushauth", withExtension: "json", subdirectory: "Vectors"))
    vector = try JSONObject(parsing: Array(Data(contentsOf: url)))
    key = try PushAuthKey(SecretBytes(copying: Hex.decode(vector.string("secretHex"))))
    let parts = try vector.object("device")
    device = try PushAuthDevice(
      token: parts.string("deviceId"), name: parts.string("deviceName"), platform: parts.string("deviceType"),
      service: parts.string("communicationType"))
    endpoints = try PushAuthEndpoints(
      registration: "https://signet.example.com/main/v1/pushauth?_action=register",
      authentication: "https://signet.example.com/main/v1/pushauth?_action=authenticate")
  }

  private func challenge(_ name: String) throws -> [UInt8] {
    try Hex.decode(vector.object("challenges").string(name))
  }

  @Test("responses to challenges", arguments: ["registration", "default", "challenge"])
  func responses(_ name: String) throws {
    let expected = try vector.object("responses").string(name)
    #expect(try key.response(to: challenge(name)) == expected)
  }

  @Test("what a device sends, byte by byte") func requests() throws {
    let mechanism = try vector.string("mechanism")
    let registration = PushAuthRequest.registration(
      of: mechanism, messageID: "REGISTER:1", challenge: try challenge("registration"), device: device,
      at: endpoints, cookie: nil, key: key)
    #expect(try registration.body == ["messageId": "REGISTER:1", "jwt": .string(vector.string("register"))])
    let update = PushAuthRequest.update(
      of: mechanism, userID: "alice", device: device, at: endpoints, cookie: nil, id: "1", key: key)
    #expect(
      try update.body
        == [
          "mechanismUid": .string(mechanism), "jwt": .string(vector.string("refresh")), "username": "alice",
        ])
    for (name, kind, answer) in [
      ("approve", "default", .approve), ("deny", "default", .deny), ("number", "challenge", .number("34")),
    ] as [(String, String, PushAuthAnswer)] {
      let request = try PushAuthRequest.answer(answer, to: message(kind), at: endpoints, key: key)
      #expect(try request.body["jwt"] == .string(vector.string(name)), "\(name)")
    }
  }

  @Test("what a server sends, byte by byte and back", arguments: ["default", "challenge", "biometric"])
  func messages(_ kind: String) throws {
    let message = try message(kind)
    #expect(message.kind.rawValue == kind && message.loadBalancer == "route=1" && message.timeToLive == 120)
    #expect(message.text == "Pay 250.00 € to Jane?" && message.userID == "alice")
    #expect(message.createdMillis == 1_795_231_234_000)
    #expect(message.numbers == (kind == "challenge" ? [12, 34, 56] : []))
    #expect(try key.sign(message.boundClaims) == token(kind).token)
  }

  private func token(_ kind: String) throws -> (id: String, token: String) {
    for case .object(let object) in try vector.array("messages") where object["kind"] == .string(kind) {
      return (try object.string("messageId"), try object.string("token"))
    }
    throw JSONFailure.missingMember("messages")
  }

  private func message(_ kind: String) throws -> PushAuthMessage {
    let (id, token) = try token(kind)
    return try PushAuthDelivery(messageID: id, token: token).verified(with: key)
  }
}
