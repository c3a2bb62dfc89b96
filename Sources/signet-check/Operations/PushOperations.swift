import SignetCrypto
import SignetJSON
import SignetPushAuth

/// The push protocol of authenticator apps: answers and messages.
let pushOperations = [
  Operation(name: "push-response") { request in
    let challenge = try request.base64("challengeB64")
    let response = try request.pushKey().response(to: challenge)
    return ["responseB64": .string(Base64URL.encode(try Base64.decode(response)))]
  },
  Operation(name: "push-message") { request in
    let delivery = try PushAuthDelivery(
      messageID: try request.string("messageId"), token: try request.string("jwt"))
    return try delivery.verified(with: try request.pushKey()).members
  },
]

extension PushAuthMessage {
  fileprivate var members: JSONObject {
    var members: JSONObject = [
      "mechanismId": .string(mechanismID), "challengeB64": .string(Base64URL.encode(challenge)),
      "timeToLive": Int64(exactly: timeToLive).map { .integer($0) } ?? .number(timeToLive),
      "pushType": .string(kind.rawValue), "loadBalancer": .string(loadBalancer),
    ]
    members["createdAtMillis"] = createdMillis.map { .integer($0) }
    if kind == .challenge { members["numbers"] = .array(numbers.map { .integer($0) }) }
    for (name, value) in [
      ("message", text), ("customPayload", customPayload), ("context", context), ("userId", userID),
      ("deviceName", deviceName),
    ] { members[name] = value.map { .string($0) } }
    return members
  }
}

extension Request {
  fileprivate func pushKey() throws -> PushAuthKey {
    try PushAuthKey(SecretBytes(copying: base64("secretB64")))
  }

  /// Decodes Base64 in either alphabet, with or without padding.
  fileprivate func base64(_ name: String) throws -> [UInt8] {
    guard let bytes = Base64.decodeLeniently(try string(name)) else {
      throw CheckFailure(invalid: name, "use Base64 in one of its alphabets")
    }
    return bytes
  }
}
