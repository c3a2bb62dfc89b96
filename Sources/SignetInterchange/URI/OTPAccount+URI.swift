public import SignetCrypto
public import SignetJSON

extension OTPAccount {
  /// Parses an `otpauth` URI; uninterpreted parameters are kept as ``foreign``.
  ///
  /// - Parameters:
  ///   - uri: The URI.
  ///   - secrets: The tolerance of decoding the secret.
  /// - Throws: ``InterchangeFailure`` if the URI is malformed or of another scheme.
  public init(uri: String, secrets: Base32.Mode = .lenient) throws(InterchangeFailure) {
    let query = try URIQuery(uri)
    let parsed = try AuthenticatorURI(uri, secrets: secrets)
    guard parsed.scheme == .otpauth, let oath = parsed.oath else {
      throw .unsupportedScheme(parsed.scheme.rawValue)
    }
    var parameterNames: Set<String> = ["secret", "algorithm", "digits", "issuer", "image"]
    if case .totp = oath.kind { parameterNames.insert("period") } else { parameterNames.insert("counter") }
    var foreign = query.others(than: parameterNames).map {
      ForeignMember(format: .otpauth, name: $0.name, value: $0.value)
    }
    if let other = parsed.otherIssuer {
      foreign.append(ForeignMember(format: .otpauth, name: Self.otherIssuer, value: other))
    }
    try self.init(
      issuer: parsed.issuer, name: parsed.account, kind: oath.kind, algorithm: oath.algorithm,
      digits: oath.digits, secret: oath.secret, image: parsed.image, foreign: foreign)
  }

  /// Returns the account policies of the account's URI, from the parameter `policies`.
  ///
  /// - Returns: The policies as written; `nil` if there are none.
  /// - Throws: ``InterchangeFailure`` if they are no JSON object.
  public func policies() throws(InterchangeFailure) -> JSONObject? {
    let member = foreign.first {
      $0.format == .otpauth && InterchangeText.lowercased($0.name) == "policies" && !$0.value.isEmpty
    }
    guard let member else { return nil }
    return try AuthenticatorURI.policies(member.value)
  }

  /// Writes the account as an `otpauth` URI; the secret is in a string that cannot be wiped.
  ///
  /// - Returns: A URI that parses to an equal account.
  /// - Throws: ``InterchangeFailure``: `notRepresentable` for a period that does not begin at 1970, a check digit and OCRA;
  ///   `tooLarge`.
  public func insecureURI() throws(InterchangeFailure) -> String {
    try requireCommonCodes(.otpauth)
    if case .totp(_, let start) = kind, start != 0 {
      throw .notRepresentable(.otpauth, reason: "when the first period began (T0)")
    }
    let uriMembers = foreign.filter { $0.format == .otpauth }
    var writer = URIWriter(
      scheme: "otpauth", host: kind.host, label: URILabel(issuer: issuer, account: name))
    writer.add(AuthenticatorURI.OATH(kind: kind, algorithm: algorithm, digits: digits, secret: secret))
    let other = uriMembers.first { $0.name == Self.otherIssuer }?.value
    writer.add("issuer", other ?? (issuer.isEmpty ? nil : issuer))
    writer.add("image", image)
    for member in uriMembers where member.name != Self.otherIssuer { writer.add(member.name, member.value) }
    _ = try AuthenticatorURI(writer.text)  // rejects a URI that no parser accepts
    return writer.text
  }

  /// The name of the foreign member that keeps the parameter's issuer if the label names another.
  private static let otherIssuer = "issuer"
}

extension OTPAccount.Kind {
  /// The type in a URI: `totp`, `hotp` or `ocra`.
  var host: String {
    switch self {
    case .hotp: "hotp"
    case .totp: "totp"
    case .ocra: "ocra"
    }
  }
}
