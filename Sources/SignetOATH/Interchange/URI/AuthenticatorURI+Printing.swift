import SignetCrypto
import SignetJSON

extension AuthenticatorURI {
  /// The URI, holding its secrets in a text that nobody wipes.
  ///
  /// Everything but unreserved characters is escaped; secrets are Base32 without padding, which others refuse; what has its
  /// default (SHA1, 6 digits, 30 s) is left out; HOTP always has its counter.
  public var insecureText: String {
    let label = URILabel(issuer: issuer, account: account)
    var writer = URIWriter(scheme: scheme.rawValue, host: host, label: label)
    let named = otherIssuer ?? (issuer.isEmpty ? nil : issuer)
    if let oath { writer.add(oath) }
    writer.add("issuer", scheme == .otpauth ? named : named.map { Base64URL.encode(Array($0.utf8)) })
    if let push { writer.add(push) }
    // What is no address stays as it is: it would not be taken for Base64 again.
    let encodesImage = scheme == .pushauth && image?.contains("://") == true
    writer.add("image", encodesImage ? image.map { Base64URL.encode(Array($0.utf8)) } : image)
    writer.add("b", backgroundColor)
    writer.add("policies", policies.map { Base64.encode($0.bytes) })
    // The older apps read the user's id of both halves as `uid`, the newer ones that of push messages as `d`; the device's id has
    // a name for each half.
    let user = userID.map { Base64URL.encode(Array($0.utf8)) }
    let resource = resourceID.map { Base64URL.encode(Array($0.utf8)) }
    writer.add("uid", user)
    if push != nil { writer.add("d", user) }
    if oath != nil { writer.add("oid", resource) }
    if push != nil { writer.add("pid", resource) }
    for other in others { writer.add(other.name, other.value) }
    return writer.text
  }

  // There is no URI for OCRA; nothing reads it.
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
