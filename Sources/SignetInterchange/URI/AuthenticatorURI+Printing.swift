import SignetCrypto
import SignetJSON
import SignetOATH

extension AuthenticatorURI {
  /// The URI as a string, which contains its secrets and cannot be wiped.
  ///
  /// Everything but unreserved characters is escaped. Secrets are Base32 without padding, which other authenticators reject.
  /// Default values (SHA1, 6 digits, 30 s) are left out; HOTP always has its counter.
  public var insecureText: String {
    let label = URILabel(issuer: issuer, account: account)
    var writer = URIWriter(scheme: scheme.rawValue, host: host, label: label)
    let issuerParameter = otherIssuer ?? (issuer.isEmpty ? nil : issuer)
    if let oath { writer.add(oath) }
    writer.add(
      "issuer",
      scheme == .otpauth ? issuerParameter : issuerParameter.map { Base64URL.encode(Array($0.utf8)) })
    if let push { writer.add(push) }
    // A value that is no URL stays plain: a reader would not decode its Base64 again.
    let encodesImage = scheme == .pushauth && image?.contains("://") == true
    writer.add("image", encodesImage ? image.map { Base64URL.encode(Array($0.utf8)) } : image)
    writer.add("b", backgroundColor)
    writer.add("policies", policies.map { Base64.encode($0.bytes) })
    // Older apps read the user's id as `uid` for both halves; newer ones read `d` for the push half. The device's id has a
    // different name in each half.
    let user = userID.map { Base64URL.encode(Array($0.utf8)) }
    let resource = resourceID.map { Base64URL.encode(Array($0.utf8)) }
    writer.add("uid", user)
    if push != nil { writer.add("d", user) }
    if oath != nil { writer.add("oid", resource) }
    if push != nil { writer.add("pid", resource) }
    for other in others { writer.add(other.name, other.value) }
    return writer.text
  }

  // OCRA has no URI; no authenticator reads one.
  private var host: String { oath?.kind.host ?? "push" }
}

extension URIWriter {
  mutating func add(_ oath: AuthenticatorURI.OATH) {
    add("secret", InterchangeText.base32(oath.secret))
    if oath.algorithm != .sha1 { add("algorithm", oath.algorithm.rawValue) }
    if oath.digits != 6 { add("digits", String(oath.digits)) }
    switch oath.kind {
    case .hotp(let counter): add("counter", String(counter))
    case .totp(let period, _): if period != 30 { add("period", String(period)) }
    case .ocra: break
    }
  }

  fileprivate mutating func add(_ push: AuthenticatorURI.Push) {
    add("r", Base64URL.encode(Array(push.registrationEndpoint.utf8)))
    add("a", Base64URL.encode(Array(push.authenticationEndpoint.utf8)))
    add("s", push.sharedSecret.withSecret { Base64URL.insecureEncode($0) })
    add("c", push.challenge.map { Base64URL.encode($0) })
    add("l", push.loadBalancer.map { Base64.encode(Array($0.utf8)) })
    add("m", push.messageID)
  }
}
