import SignetCrypto
public import SignetJSON

/// A verified message that asks the user to approve or deny a request.
public struct PushAuthMessage: Sendable, Hashable {
  /// The longest accepted time to live, in seconds: 30 days.
  public static let longestTimeToLive = 30 * 86_400.0

  /// The message id, which the answer contains.
  public let messageID: String
  /// The id of the mechanism to which the message is addressed.
  public let mechanismID: String
  /// The decoded challenge, to which the answer responds.
  public let challenge: [UInt8]
  /// The decoded cookie of the server's load balancer.
  public let loadBalancer: String
  /// The time to live, in seconds.
  public let timeToLive: Double
  /// The server's time of sending, in milliseconds since 1970; `nil` if the message does not contain it.
  public let createdMillis: Int64?
  /// The kind of answer that the message requires.
  public let kind: PushAuthKind
  /// The numbers to choose from; empty unless the kind is `challenge`.
  public let numbers: [Int64]
  /// The text for the user.
  public let text: String?
  /// Additional data of the server's operator.
  public let customPayload: String?
  /// The place and circumstances of the sign-in, as JSON for the app to display.
  public let context: String?
  /// The server's id of the user.
  public let userID: String?
  /// The server's name of the device.
  public let deviceName: String?
  /// The SHA-256 digest of the token, which binds the message id to this content.
  public let digest: [UInt8]

  /// Creates a message, for servers and tests.
  public init(
    messageID: String, mechanismID: String, challenge: [UInt8], loadBalancer: String = "",
    timeToLive: Double = 120, createdMillis: Int64? = nil, kind: PushAuthKind = .default,
    numbers: [Int64] = [], text: String? = nil, customPayload: String? = nil, context: String? = nil,
    userID: String? = nil, deviceName: String? = nil, digest: [UInt8] = []
  ) {
    self.messageID = messageID
    self.mechanismID = mechanismID
    self.challenge = challenge
    self.loadBalancer = loadBalancer
    self.timeToLive = timeToLive
    self.createdMillis = createdMillis
    self.kind = kind
    self.numbers = numbers
    self.text = text
    self.customPayload = customPayload
    self.context = context
    self.userID = userID
    self.deviceName = deviceName
    self.digest = digest
  }

  /// Parses verified claims.
  ///
  /// - Parameters:
  ///   - claims: The payload of a verified token.
  ///   - messageID: The message id of the delivery.
  ///   - digest: The SHA-256 digest of the token.
  /// - Throws: ``PushAuthFailure`` if a claim is missing or malformed.
  init(_ claims: JSONObject, messageID: String, digest: [UInt8]) throws(PushAuthFailure) {
    let claims = PushAuthClaims(claims)
    challenge = try PushAuthClaims.base64(
      claims.text("c", named: "challenge (c)"), named: "challenge (c)")
    guard !challenge.isEmpty else { throw .missing("challenge (c)") }
    guard let cookie = try claims.optionalText("l", named: "load balancer (l)") else {
      throw .missing("load balancer (l)")
    }
    loadBalancer = cookie.decodedFromBase64
    guard loadBalancer.isPlainText else {
      throw .invalid("load balancer (l)", reason: "has control characters")
    }
    guard claims.object.contains("t") else { throw .missing("time to live (t)") }
    guard let seconds = claims.number("t"), (0...Self.longestTimeToLive).contains(seconds) else {
      throw .invalid("time to live (t)", reason: "is not a number of seconds up to 30 days")
    }
    timeToLive = seconds
    mechanismID = try claims.text("u", named: "mechanism id (u)")
    createdMillis = claims.number("i").flatMap { Int64(exactly: $0.rounded()) }.flatMap { $0 > 0 ? $0 : nil }
    kind = PushAuthKind(name: try claims.optionalText("k", named: "push type (k)"))
    numbers =
      kind == .challenge
      ? PushAuthNumbers.parse(try claims.optionalText("n", named: "numbers (n)") ?? "") : []
    text = try claims.optionalText("m", named: "message (m)", limit: 8192)
    customPayload = try claims.optionalText("p", named: "custom payload (p)", limit: 8192)
    context = try claims.optionalText("x", named: "context (x)", limit: 8192)
    userID = try claims.optionalText("d", named: "user id (d)").flatMap { $0.isEmpty ? nil : $0 }
    deviceName = try claims.optionalText("e", named: "device name (e)")
    (self.messageID, self.digest) = (messageID, digest)
  }

  /// The claims of the token, for servers.
  public var claims: JSONObject {
    var claims: JSONObject = [
      "c": .string(Base64.encode(challenge)), "l": .string(Base64.encode(Array(loadBalancer.utf8))),
      "t": .string(Self.text(timeToLive)), "u": .string(mechanismID), "k": .string(kind.rawValue),
    ]
    claims["i"] = createdMillis.map { .string(String($0)) }
    if kind == .challenge { claims["n"] = .string(numbers.map(String.init).joined(separator: ",")) }
    for (name, value) in [
      ("m", text), ("p", customPayload), ("x", context), ("d", userID), ("e", deviceName),
    ] { claims[name] = value.map { .string($0) } }
    return claims
  }

  /// The claims with the message id, which binds the token to its id; apps that do not support it ignore it.
  public var boundClaims: JSONObject {
    var claims = claims
    claims["messageId"] = .string(messageID)
    return claims
  }

  /// Indicates whether a text can be the number displayed at the sign-in.
  ///
  /// Servers compare texts: `034` is not 34.
  ///
  /// - Parameter typed: The typed text.
  /// - Returns: True if it is one of ``numbers``, or has 1 to 10 digits if the message offers none.
  package func takes(number typed: String) -> Bool {
    guard numbers.isEmpty else { return numbers.map(String.init).contains(typed) }
    return (1...10).contains(typed.utf8.count) && typed.utf8.allSatisfy { 0x30...0x39 ~= $0 }
  }

  private static func text(_ seconds: Double) -> String {
    Int64(exactly: seconds).map(String.init) ?? String(seconds)
  }
}

extension PushAuthMessage: CustomStringConvertible, CustomReflectable {
  /// The message id; never the challenge, the cookie or the user.
  public var description: String { "push message \(messageID)" }

  /// An empty mirror, so that a dump does not show them.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
