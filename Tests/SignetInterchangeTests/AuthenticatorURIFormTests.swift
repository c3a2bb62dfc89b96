import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetTestKit
import Testing

/// The different forms of one account.
@Suite("Forms of otpauth, pushauth and mfauth URIs")
struct AuthenticatorURIFormTests {
  private static let ends =
    "r=aHR0cHM6Ly9hLmV4YW1wbGUvcA&a=aHR0cHM6Ly9hLmV4YW1wbGUvcQ&s=AAECAwQFBgcICQoLDA0ODw&c=_-8&l=YT1i&m=R:1"

  @Test(
    "scheme and type in either case",
    arguments: [
      ("otpauth", "totp"), ("OTPAUTH", "TOTP"), ("OtpAuth", "HotP"), ("pushauth", "push"),
      ("PUSHAUTH", "PUSH"), ("mfauth", "totp"), ("MFAuth", "TOTP"), ("mfAUTH", "HOTP"),
    ])
  func cases(scheme: String, host: String) throws {
    let uri = try AuthenticatorURI("\(scheme)://\(host)/Acme:bob?secret=\(URITests.secret)&\(Self.ends)")
    #expect(uri.scheme.rawValue == scheme.lowercased())
    #expect(uri.issuer == "Acme" && uri.account == "bob")
    #expect((uri.oath != nil) == (uri.scheme != .pushauth) && (uri.push != nil) == (uri.scheme != .otpauth))
    if let oath = uri.oath {
      let isCounted = if case .hotp = oath.kind { true } else { false }
      #expect(isCounted == (host.lowercased() == "hotp"))
    }
  }

  /// Base64 in its four forms; with these bytes, the alphabets and the padding differ.
  private static func forms(_ bytes: [UInt8]) -> [String] {
    let padded = Base64.encode(bytes)
    let urlSafe = padded.replacing("+", with: "-").replacing("/", with: "_")
    return [padded, urlSafe].flatMap { [$0, String($0.prefix { $0 != "=" })] }
  }

  @Test("issuer, policies, endpoints, secrets and ids are read in both alphabets, padded or not")
  func base64() throws {
    let policies = #"{"a":"ÿ?>","deviceTampering":{"score":0.75}}"#
    let (user, server) = ("üser?>ÿ", "Bänk?>ÿ")
    let endpoint = "https://a.example/push?_action=register&x=?>~ÿ"
    let secret: [UInt8] = [
      0xFB, 0xFF, 0xBF, 0xFE, 0xFB, 0xFF, 0xBF, 0xFE, 0xFB, 0xFF, 0xBF, 0xFE, 1, 2, 3, 4,
    ]
    let parts = [policies, user, server, endpoint].map { Self.forms(Array($0.utf8)) } + [Self.forms(secret)]
    #expect(parts.contains { $0[0] != $0[2] } && parts.contains { $0[0] != $0[1] })
    for form in 0..<4 {
      let value = { (part: Int) in PercentEncodingSample.escape(parts[part][form]) }
      let text =
        "mfauth://totp/bob?secret=\(URITests.secret)&policies=\(value(0))&uid=\(value(1))&pid=\(value(1))"
        + "&issuer=\(value(2))&r=\(value(3))&a=\(value(3))&s=\(value(4))&c=\(value(4))"
      let uri = try AuthenticatorURI(text)
      #expect(uri.policies == (try JSONObject(parsing: Array(policies.utf8))), "\(text)")
      #expect(uri.userID == user && uri.resourceID == user && uri.issuer == server, "\(text)")
      #expect(uri.push?.registrationEndpoint == endpoint && uri.push?.authenticationEndpoint == endpoint)
      #expect(uri.push?.sharedSecret.withSecret { $0.insecureCopy() } == secret, "\(text)")
      #expect(uri.push?.challenge == secret, "\(text)")
    }
    // A URI for codes alone has them as well.
    for form in parts[0] {
      let text = "otpauth://totp/b?secret=\(URITests.secret)&policies=\(PercentEncodingSample.escape(form))"
      #expect(try AuthenticatorURI(text).policies?.contains("deviceTampering") == true)
    }
  }

  @Test("a picture as it is, escaped, and in Base64; a colour with its sign and without")
  func decorations() throws {
    let address = "https://a.example/i.png?x=1"
    for scheme in ["otpauth://totp", "pushauth://push", "mfauth://totp"] {
      for image in [
        "https://a.example/i.png?x=1", PercentEncodingSample.escapeAll(address),
        Base64URL.encode(Array(address.utf8)),
        PercentEncodingSample.escape(Base64.encode(Array(address.utf8))),
      ] {
        let uri = try AuthenticatorURI(
          "\(scheme)/Acme:bob?secret=\(URITests.secret)&\(Self.ends)&image=\(image)")
        #expect(uri.image == address, "\(scheme) \(image)")
      }
      for colour in ["032b75", "#032b75", "%23032b75"] {
        let uri = try AuthenticatorURI(
          "\(scheme)/Acme:bob?secret=\(URITests.secret)&\(Self.ends)&b=\(colour)")
        #expect(uri.backgroundColor == "032b75")
      }
    }
  }

  @Test(
    "missing parameters of one half are named, and values out of range are refused",
    arguments: [
      ("pushauth://push/x?a=aHR0cHM6Ly9h&s=AAAA", InterchangeFailure.missing("r (endpoint)")),
      ("pushauth://push/x?r=aHR0cHM6Ly9h&s=AAAA", .missing("a (endpoint)")),
      ("mfauth://totp/x?r=aHR0cHM6Ly9h&a=aHR0cHM6Ly9h&s=AAAA", .missing("secret")),
      (
        "mfauth://totp/x?secret=\(URITests.secret)&r=aHR0cHM6Ly9h&a=aHR0cHM6Ly9h",
        .missing("s (shared secret)")
      ),
      ("otpauth://totp/x?secret=\(URITests.secret)&period=3601", .oath(.periodOutOfRange(3601))),
      ("mfauth://totp/x?secret=\(URITests.secret)&digits=11&\(ends)", .oath(.digitsOutOfRange(11))),
      ("mfauth://steam/x?secret=\(URITests.secret)&\(ends)", .unsupportedType("steam")),
      ("pushauth://totp/x?secret=\(URITests.secret)&\(ends)", .unsupportedType("totp")),
      ("pushauth://push/?\(ends)", .missing("label")),
      (
        "pushauth://push/x?\(ends.replacing("c=_-8", with: "c=%25"))",
        .invalid("c (challenge)", reason: "is not Base64")
      ),
      (
        "pushauth://push/x?\(ends)&policies=W10", .invalid("policies", reason: "are not a JSON object")
      ),
    ])
  func refused(text: String, failure: InterchangeFailure) {
    #expect(throws: failure) { try AuthenticatorURI(text) }
  }

  @Test("each scheme survives a round trip with policies, ids, image and all other parts")
  func roundTrip() throws {
    var random = SplitMix64(seed: 66)
    let source = SeededRandomSource(seed: 66)
    let alphabet = Array("aZ9 :%?&=#+/\"'äß中🙂-_~@;,|")
    func text(_ counts: ClosedRange<Int>) -> String {
      let raw = String(
        (0..<Int.random(in: counts, using: &random)).map { _ in alphabet[random.next(below: alphabet.count)] }
      )
      return raw.split(separator: " ").joined(separator: " ")
    }
    func maybe(_ make: @autoclosure () -> String) -> String? {
      guard Bool.random(using: &random) else { return nil }
      let made = make()
      return made.isEmpty ? nil : made
    }
    for number in 0..<1500 {
      let scheme = AuthenticatorURI.Scheme.allCases[number % 3]
      var uri = AuthenticatorURI(scheme: scheme, issuer: text(0...12), account: "x" + text(0...12))
      if scheme != .pushauth {
        uri.oath = AuthenticatorURI.OATH(
          kind: Bool.random(using: &random)
            ? .hotp(counter: .random(in: 0 ... .max, using: &random))
            : .totp(period: .random(in: 1...3600, using: &random)),
          algorithm: OATHAlgorithm.allCases[number % OATHAlgorithm.allCases.count],
          digits: .random(in: 6...10, using: &random),
          secret: SharedSecretBox(
            SecretBytes(copying: source.bytes(.random(in: 1...64, using: &random)))))
      }
      if scheme != .otpauth {
        uri.push = AuthenticatorURI.Push(
          registrationEndpoint: "https://a.example/\(number)?_action=register",
          authenticationEndpoint: "https://a.example/\(number)?_action=authenticate",
          sharedSecret: SharedSecretBox(
            SecretBytes(copying: source.bytes(.random(in: 1...64, using: &random)))),
          challenge: Bool.random(using: &random) ? source.bytes(.random(in: 1...40, using: &random)) : nil,
          loadBalancer: maybe("amlbcookie=\(number)"), messageID: maybe("REGISTER:\(number)"))
      }
      uri.image = maybe("https://a.example/\(number).png")
      uri.backgroundColor = maybe("0\(number)")
      uri.userID = maybe("u" + text(0...12))
      uri.resourceID = maybe("r" + text(0...12))
      if Bool.random(using: &random) {
        uri.policies = [
          "deviceTampering": ["score": .number(Double.random(in: 0...1, using: &random))],
          "own": [.string(text(0...20)), .null, .bool(true), .integer(Int64(number))],
        ]
      }
      if Bool.random(using: &random) { uri.others = [("note", "v" + text(0...9))] }
      let printed = uri.insecureText
      #expect(printed.utf8.allSatisfy { 0x21...0x7E ~= $0 })
      let again = try AuthenticatorURI(printed)
      #expect(again.scheme == uri.scheme && again.issuer == uri.issuer && again.account == uri.account)
      #expect(again.image == uri.image && again.backgroundColor == uri.backgroundColor, "\(printed)")
      #expect(again.userID == uri.userID && again.resourceID == uri.resourceID, "\(printed)")
      #expect(again.policies == uri.policies && again.otherIssuer == nil, "\(printed)")
      #expect(again.others.map(\.value) == uri.others.map(\.value))
      #expect(again.oath?.kind == uri.oath?.kind && again.oath?.algorithm == uri.oath?.algorithm)
      #expect(again.oath?.digits == uri.oath?.digits)
      #expect(Self.bytes(again.oath?.secret) == Self.bytes(uri.oath?.secret), "\(printed)")
      #expect(Self.bytes(again.push?.sharedSecret) == Self.bytes(uri.push?.sharedSecret), "\(printed)")
      #expect(again.push?.challenge == uri.push?.challenge && again.push?.messageID == uri.push?.messageID)
      #expect(again.push?.loadBalancer == uri.push?.loadBalancer)
      #expect(again.push?.registrationEndpoint == uri.push?.registrationEndpoint)
      #expect(again.push?.authenticationEndpoint == uri.push?.authenticationEndpoint)
      #expect(again.insecureText == printed)
    }
  }

  private static func bytes(_ secret: SharedSecretBox?) -> [UInt8]? {
    secret?.withSecret { $0.insecureCopy() }
  }
}
