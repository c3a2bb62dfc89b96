import LibFuzzer
import SignetCrypto
import SignetJSON
import SignetPushAuth

@main struct FuzzPushAuth {
  private static let key = made("a key of 32 bytes is one") { () throws(PushAuthFailure) in
    try PushAuthKey(SecretBytes(copying: [UInt8](1...32)))
  }

  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkDelivery(text)
    checkClaims(input)
    checkSubmission(input)
    checkEndpoints(text)
    checkInbox(input)
    checkDevice(input)
    require(PushAuthNumbers.parse(text).count <= PushAuthNumbers.limit, "numbers are bounded")
  }

  private static func checkDelivery(_ text: String) {
    guard let delivery = accepted({ () throws(PushAuthFailure) in try PushAuthDelivery(text) }) else {
      return
    }
    require(!delivery.messageID.isEmpty && !delivery.claimedMechanism.isEmpty, "a delivery can be looked up")
    let message = accepted { () throws(PushAuthFailure) in try delivery.verified(with: key) }
    guard let message else { return }
    require(message.mechanismID == delivery.claimedMechanism, "what is verified is what was looked up")
    let claims = accepted { () throws(PushAuthFailure) in try key.claims(of: delivery.token) }
    require(claims != nil, "only what is signed is a message")
  }

  /// The maps that push services deliver along with the token: as one map, inside of `aps`, or the token alone.
  private static func checkMaps(_ map: JSONObject) {
    check(accepted { () throws(PushAuthFailure) in try PushAuthDelivery(map: map) })
    check(accepted { () throws(PushAuthFailure) in try PushAuthDelivery(userInfo: map) })
  }

  private static func check(_ delivery: PushAuthDelivery?) {
    guard let delivery else { return }
    require(!delivery.messageID.isEmpty, "a delivery can be looked up")
    let alone = accepted { () throws(PushAuthFailure) in try PushAuthDelivery(token: delivery.token) }
    require(alone.map { $0.claimedMechanism == delivery.claimedMechanism } ?? true, "a token is read alike")
  }

  /// Claims of any kind under the right key, like those of a hostile server.
  private static func checkClaims(_ input: [UInt8]) {
    guard let claims = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }) else { return }
    checkMaps(claims)
    checkMaps(["data": .string(key.sign(claims)), "messageId": "M"])
    let message = accepted { () throws(PushAuthFailure) in
      try PushAuthDelivery(messageID: "M", token: key.sign(claims)).verified(with: key)
    }
    guard let message else { return }
    require(!message.challenge.isEmpty && message.timeToLive >= 0, "a message has a challenge and an end")
    let again = made("what is sent is read") { () throws(PushAuthFailure) in
      try PushAuthDelivery(messageID: "M", token: key.sign(message.claims)).verified(with: key)
    }
    require(again.claims == message.claims, "as it is")
    var inbox = PushAuthInbox()
    _ = accepted { () throws(PushAuthFailure) in try inbox.receive(message, at: 1) }
    let stored = made("what is stored is read") { () throws(PushAuthFailure) in try PushAuthInbox(inbox.json)
    }
    require(stored.json == inbox.json, "and is the same")
  }

  /// A device in the form that the server and the app store.
  private static func checkDevice(_ input: [UInt8]) {
    let device = accepted { () throws(PushAuthFailure) in
      let object: JSONObject
      do throws(JSONFailure) { object = try JSONObject(parsing: input) } catch {
        throw .malformed(reason: "")
      }
      return try PushAuthDevice(stored: object)
    }
    guard let device else { return }
    let again = made("what is stored is read") { () throws(PushAuthFailure) in
      try PushAuthDevice(stored: device.json)
    }
    require(again.json == device.json, "and is the same")
  }

  private static func checkSubmission(_ input: [UInt8]) {
    for action in PushAuthAction.allCases {
      let submission = accepted { () throws(PushAuthFailure) in
        try PushAuthSubmission(parsing: input, for: action)
      }
      guard let submission else { continue }
      require(
        action == .refresh ? submission.mechanismID != nil : submission.messageID != nil,
        "a submission names what it is about")
      _ = accepted { () throws(PushAuthFailure) in try submission.answer(with: key, challenge: [1]) }
      _ = accepted { () throws(PushAuthFailure) in try submission.registration(with: key, challenge: [1]) }
      _ = accepted { () throws(PushAuthFailure) in try submission.device(with: key) }
      _ = accepted { () throws(PushAuthFailure) in try submission.waiting(with: key) }
    }
  }

  private static func checkEndpoints(_ text: String) {
    let endpoints = accepted { () throws(PushAuthFailure) in
      try PushAuthEndpoints(registration: text, authentication: text)
    }
    guard let endpoints else { return }
    require(text.lowercased().hasPrefix("https://"), "nothing goes in the clear")
    require(endpoints.update.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "no line ends in a URL")
    let cut = text.prefix { $0 != "?" }
    require(endpoints.update.hasPrefix(cut), "a new token goes where the registration went")
  }

  private static func checkInbox(_ input: [UInt8]) {
    guard let json = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }),
      let inbox = accepted({ () throws(PushAuthFailure) in try PushAuthInbox(json) })
    else { return }
    for notification in inbox.notifications {
      _ = (notification.expires, notification.state(at: .max), notification.state(at: .min))
    }
    for mode in [PushAuthCleanUp.count(1), .age(days: .max), .hybrid(count: .max, days: 0)] {
      let outdated = mode.outdated(among: inbox.notifications, at: .max)
      require(outdated.count <= inbox.notifications.count, "no more is forgotten than there is")
    }
  }
}
