import SignetCrypto
import SignetJSON
import SignetPushAuth

enum PushSamples {
  static let secretBytes = [UInt8](0..<32)
  static let challenge = [UInt8](100..<132)
  static let mechanism = "A3D8F0C1-0000-4000-8000-000000000001"

  static func key(_ bytes: [UInt8] = secretBytes) throws -> PushAuthKey {
    try PushAuthKey(SecretBytes(copying: bytes))
  }

  static func message(
    _ id: String = "AUTHENTICATE:1", kind: PushAuthKind = .default, numbers: [Int64] = [],
    created: Int64? = 1_700_000_000_000, mechanism: String = mechanism, text: String? = nil
  ) -> PushAuthMessage {
    PushAuthMessage(
      messageID: id, mechanismID: mechanism, challenge: challenge, loadBalancer: "amlbcookie=01",
      createdMillis: created, kind: kind, numbers: numbers, text: text)
  }

  /// A delivered and verified message.
  static func received(_ message: PushAuthMessage) throws -> PushAuthMessage {
    let token = try key().sign(message.claims)
    return try PushAuthDelivery(messageID: message.messageID, token: token).verified(with: key())
  }

  /// A token with any header and claims, under any key.
  static func token(_ header: String, _ claims: String, key: [UInt8] = secretBytes) -> String {
    let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
    let code = HMACKey(SecretBytes(copying: key), .sha256).authenticationCode(for: Array(input.utf8))
    return "\(input).\(Base64URL.encode(code))"
  }

  static let header = #"{"alg":"HS256","typ":"JWT"}"#

  /// Claims with one of them replaced or, for `nil`, left out.
  static func claims(_ name: String = "", _ value: JSONValue? = nil) -> JSONObject {
    var claims = message().claims
    if !name.isEmpty { claims[name] = value }
    return claims
  }
}
