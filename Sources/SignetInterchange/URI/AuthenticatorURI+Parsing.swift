public import SignetCrypto
import SignetJSON
import SignetOATH
import SignetSystem

extension AuthenticatorURI {
  /// Parses a URI.
  ///
  /// - Parameters:
  ///   - text: The URI; white space around it is dropped.
  ///   - secrets: The tolerance of decoding a secret; spaces, hyphens and padding are ignored in any case.
  /// - Throws: ``InterchangeFailure`` if the URI is malformed, unsupported or too large.
  public init(_ text: String, secrets: Base32.Mode = .lenient) throws(InterchangeFailure) {
    let query = try URIQuery(text)
    guard let scheme = Scheme(rawValue: query.scheme) else {
      throw .unsupportedScheme(String(query.scheme.prefix(40)))
    }
    self.scheme = scheme
    let label = try URILabel(query.label)
    (issuer, otherIssuer) = try Self.issuers(label, query, isEncoded: scheme != .otpauth)
    account = label.account
    guard !(issuer.isEmpty && account.isEmpty) else { throw .missing("label") }
    switch (scheme, query.host) {
    case (.pushauth, "push"): oath = nil
    case (.otpauth, "totp"), (.mfauth, "totp"): oath = try Self.oath(query, isTimed: true, secrets)
    case (.otpauth, "hotp"), (.mfauth, "hotp"): oath = try Self.oath(query, isTimed: false, secrets)
    case (.mfauth, "push"): oath = nil
    default: throw .unsupportedType(String(query.host.prefix(40)))
    }
    // Newer apps parse each half separately, so one half may be missing here; enrolling requires both.
    var hasPush = scheme != .otpauth
    if hasPush, oath != nil { hasPush = try Push.isPresent(in: query) }
    push = hasPush ? try Push(query) : nil
    image = try query.value("image").map(Self.image)
    try HostileText.check(image ?? "", "image", limit: OTPAccount.maximumTextByteCount)
    backgroundColor = try query.value("b").map { String($0.drop { $0 == "#" }) }
    try HostileText.check(backgroundColor ?? "", "background colour", limit: 64)
    for (text, member) in [(issuer, "issuer"), (otherIssuer ?? "", "issuer"), (account, "account")] {
      try HostileText.check(text, member, limit: Self.maximumNameByteCount)
    }
    policies = try query.value("policies").map { (text) throws(InterchangeFailure) in try Self.policies(text)
    }
    let isCodesOnly = scheme == .otpauth
    userID = try Self.name(query, "uid", isCodesOnly ? nil : "d")
    resourceID = try Self.name(query, "oid", isCodesOnly ? nil : "pid")
    others = query.others(than: Self.parameterNames(scheme, isTimed: query.host == "totp"))
  }

  /// Returns a name that a server assigned, in Base64 or plain, from the first of two parameters that is present.
  private static func name(
    _ query: URIQuery, _ first: String, _ second: String?
  ) throws(InterchangeFailure) -> String? {
    var encoded = try query.value(first)
    if encoded == nil, let second { encoded = try query.value(second) }
    let name = encoded.map { InterchangeText.base64Text($0) ?? $0 }
    try HostileText.check(name ?? "", first, limit: maximumNameByteCount)
    return name
  }

  /// Returns the names of the interpreted parameters.
  private static func parameterNames(_ scheme: Scheme, isTimed: Bool) -> Set<String> {
    let common: Set<String> = ["issuer", "image", "b", "policies", "uid", "oid"]
    let codes: Set<String> = ["secret", "algorithm", "digits", isTimed ? "period" : "counter"]
    let push: Set<String> = ["r", "a", "s", "c", "l", "m", "d", "pid"]
    return switch scheme {
    case .otpauth: common.union(codes)
    case .pushauth: common.union(push)
    case .mfauth: common.union(codes).union(push)
    }
  }

  /// Returns the issuer that counts, and the parameter's issuer if it is a different one.
  private static func issuers(
    _ label: URILabel, _ query: URIQuery, isEncoded: Bool
  ) throws(InterchangeFailure) -> (String, String?) {
    guard var parameter = try query.value("issuer") else { return (label.issuer, nil) }
    if isEncoded { parameter = InterchangeText.base64Text(parameter) ?? parameter }
    parameter = parameter.trimmed
    if label.issuer.isEmpty { return (parameter, nil) }
    // A plus sign is literal (RFC 3986), unless the label shows that it replaces a space.
    let plusAsSpace = String(parameter.map { $0 == "+" ? " " : $0 })
    let isSame = [parameter, plusAsSpace].contains { $0.hasSameBytes(as: label.issuer) }
    return (label.issuer, isSame || parameter.isEmpty ? nil : parameter)
  }

  private static func oath(
    _ query: URIQuery, isTimed: Bool, _ secrets: Base32.Mode
  ) throws(InterchangeFailure) -> OATH {
    guard let secret = try query.value("secret") else { throw .missing("secret") }
    let box = try InterchangeText.secret(secret, mode: secrets)
    guard box.withSecret({ $0.byteCount > 0 }) else { throw .missing("secret") }
    let algorithm = try query.value("algorithm")
      .map { (name) throws(InterchangeFailure) in try InterchangeText.algorithm(name) }
    let digits: Int = try number(query, "digits") ?? 6
    guard HOTP.allowedDigits.contains(digits) else { throw .oath(.digitsOutOfRange(digits)) }
    guard isTimed else {
      let counter: UInt64 = try number(query, "counter") ?? 0
      return OATH(kind: .hotp(counter: counter), algorithm: algorithm ?? .sha1, digits: digits, secret: box)
    }
    let period: Int = try number(query, "period") ?? 30
    guard TOTP.allowedPeriods.contains(period) else { throw .oath(.periodOutOfRange(period)) }
    return OATH(kind: .totp(period: period), algorithm: algorithm ?? .sha1, digits: digits, secret: box)
  }

  private static func number<Number: FixedWidthInteger>(
    _ query: URIQuery, _ name: String
  ) throws(InterchangeFailure) -> Number? {
    guard let text = try query.value(name) else { return nil }
    guard let number: Number = InterchangeText.number(text) else {
      throw .invalid(name, reason: "is not a whole number in range")
    }
    return number
  }

  /// Returns the URL of a picture, which may be plain or in Base64.
  private static func image(_ text: String) -> String {
    if text.contains(":") { return text }
    guard let decoded = InterchangeText.base64Text(text), decoded.contains("://") else { return text }
    return decoded
  }

  /// Parses account policies: a JSON object, or Base64 of one.
  static func policies(_ text: String) throws(InterchangeFailure) -> JSONObject {
    let json = text.hasPrefix("{") ? Array(text.utf8) : InterchangeText.base64(text)
    guard let json else { throw .invalid("policies", reason: "are neither JSON nor Base64 of it") }
    let limits = JSONLimits(maximumByteCount: maximumParameterByteCount / 2)
    do throws(JSONFailure) { return try JSONObject(parsing: json, limits: limits) } catch {
      throw .invalid("policies", reason: "are not a JSON object")
    }
  }
}

extension AuthenticatorURI.Push {
  /// Indicates whether any parameter of this half is present.
  fileprivate static func isPresent(in query: URIQuery) throws(InterchangeFailure) -> Bool {
    for name in ["r", "a", "s", "c", "m"] where try query.value(name) != nil { return true }
    return false
  }

  fileprivate init(_ query: URIQuery) throws(InterchangeFailure) {
    registrationEndpoint = try Self.endpoint(query, "r")
    authenticationEndpoint = try Self.endpoint(query, "a")
    guard let secret = try query.value("s") else { throw .missing("s (shared secret)") }
    guard var bytes = InterchangeText.base64(secret), !bytes.isEmpty else {
      throw .invalid("s (shared secret)", reason: "is not Base64")
    }
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    sharedSecret = SharedSecretBox(SecretBytes(copying: bytes))
    if let text = try query.value("c") {
      guard let challenge = InterchangeText.base64(text) else {
        throw .invalid("c (challenge)", reason: "is not Base64")
      }
      self.challenge = challenge
    } else {
      challenge = nil
    }
    loadBalancer = try query.value("l").map { InterchangeText.base64Text($0) ?? $0 }
    try InterchangeText.check(loadBalancer ?? "", "l")
    messageID = try query.value("m")
    try HostileText.check(messageID ?? "", "m", limit: AuthenticatorURI.maximumNameByteCount)
  }

  private static func endpoint(_ query: URIQuery, _ name: String) throws(InterchangeFailure) -> String {
    guard let text = try query.value(name) else { throw .missing("\(name) (endpoint)") }
    let url = text.contains("://") ? text : InterchangeText.base64Text(text) ?? text
    try HostileText.check(url, "\(name) (endpoint)", limit: OTPAccount.maximumTextByteCount)
    let scheme = InterchangeText.lowercased(url)
    guard scheme.hasPrefix("https://") || scheme.hasPrefix("http://") else {
      throw .invalid("\(name) (endpoint)", reason: "is not an http or https URL")
    }
    return url
  }
}
