import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetTestKit
import Testing

@Suite("otpauth, pushauth and mfauth URIs")
struct URITests {
  static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  @Test("defaults")
  func defaults() throws {
    let account = try OTPAccount(
      uri: "otpauth://totp/Example:alice@example.com?secret=\(Self.secret)&issuer=Example")
    #expect([account].facts == [AccountFacts(try SampleAccounts.account())])
    #expect(account.foreign.isEmpty && account.image == nil)
    let counted = try OTPAccount(uri: "otpauth://hotp/x?secret=\(Self.secret)")
    #expect(counted.kind == .hotp(counter: 0))
  }

  @Test("all parameters, in either case, with spaces, hyphens and padding")
  func lenient() throws {
    let account = try OTPAccount(
      uri:
        " OTPAuth://HOTP/Ex%20ample:%20bob?Secret=gezd%20gnbv-gy3t-qojq====&ALGORITHM=HmacSHA256&digits=8&counter=18446744073709551615&image=https%3A%2F%2Fa.example%2Fi.png\n"
    )
    #expect(account.issuer == "Ex ample" && account.name == "bob")
    #expect(account.kind == .hotp(counter: .max) && account.digits == 8 && account.algorithm == .sha256)
    #expect(account.secret.withSecret { $0.insecureCopy() } == Array("1234567890".utf8))
    #expect(account.image == "https://a.example/i.png")
  }

  @Test(
    "issuer and account",
    arguments: [
      ("otpauth://totp/name?", "", "name"), ("otpauth://totp/name?issuer=Acme&", "Acme", "name"),
      ("otpauth://totp/Acme:name?issuer=Other&", "Acme", "name"), ("otpauth://totp/Acme:a:b?", "Acme", "a:b"),
      ("otpauth://totp/Acme%3Aname?", "Acme", "name"), ("otpauth://totp/A%3AB:name?", "A:B", "name"),
      ("otpauth://totp/?issuer=Acme&", "Acme", ""), ("otpauth://totp?issuer=Acme&", "Acme", ""),
      ("otpauth://totp/:x%3Ay?", "", "x:y"),
      ("otpauth://totp/Air%20Canada:n?issuer=Air+Canada&", "Air Canada", "n"),
      ("otpauth://totp/Disney+:n?issuer=Disney+&", "Disney+", "n"),
      ("otpauth://totp/n?issuer=a+b&", "a+b", "n"),
      ("otpauth://totp/100%25:n?", "100%", "n"), ("otpauth://totp/100%:n?", "100%", "n"),
      ("otpauth://totp/%zz:n?", "%zz", "n"), ("otpauth://totp//Acme:n?", "Acme", "n"),
      ("otpauth://totp/Acme:n#1?", "Acme", "n#1"),
    ])
  func labels(uri: String, issuer: String, name: String) throws {
    let account = try OTPAccount(uri: "\(uri)secret=\(Self.secret)")
    #expect(account.issuer == issuer && account.name == name)
    let again = try OTPAccount(uri: try account.insecureURI())
    #expect([again].facts == [account].facts && again.foreign == account.foreign)
  }

  @Test("two issuers: the label's is used, the other is kept and shown")
  func twoIssuers() throws {
    let text = "otpauth://totp/Acme:n?secret=\(Self.secret)&issuer=Other"
    #expect(try AuthenticatorURI(text).otherIssuer == "Other")
    let account = try OTPAccount(uri: text)
    #expect(try account.insecureURI() == text)
  }

  @Test("unknown parameters are kept, in order")
  func unknown() throws {
    let text = "otpauth://totp/n?secret=\(Self.secret)&lock=false&b=032b75&x%20y=%26%3D%25&flag="
    let account = try OTPAccount(uri: text)
    #expect(account.foreign.map(\.name) == ["lock", "b", "x y", "flag"])
    #expect(account.foreign.map(\.value) == ["false", "032b75", "&=%", ""])
    #expect(try account.insecureURI() == text)
  }

  @Test(
    "refused",
    arguments: [
      ("", InterchangeFailure.notURI), ("otpauth:totp/x?secret=A", .notURI), ("://totp/x", .notURI),
      ("https://a.example", .unsupportedScheme("https")),
      ("otpauth://steam/x?secret=\(secret)", .unsupportedType("steam")),
      ("otpauth://push/x?secret=\(secret)", .unsupportedType("push")),
      ("otpauth://totp/?secret=\(secret)", .missing("label")), ("otpauth://totp/x", .missing("secret")),
      ("otpauth://totp/x?secret=", .missing("secret")), ("otpauth://totp/x?secret=%3D", .missing("secret")),
      ("otpauth://totp/x?secret=A1B8", .secret(.symbol(position: 1))),
      ("otpauth://totp/x?secret=AB&secret=AC", .repeated("secret")),
      ("otpauth://totp/x?secret=\(secret)&algorithm=md5", .unsupportedAlgorithm("md5")),
      ("otpauth://totp/x?secret=\(secret)&algorithm=SHA225", .unsupportedAlgorithm("SHA225")),
      ("otpauth://totp/x?secret=\(secret)&digits=5", .oath(.digitsOutOfRange(5))),
      (
        "otpauth://totp/x?secret=\(secret)&digits=six",
        .invalid("digits", reason: "is not a whole number in range")
      ),
      ("otpauth://totp/x?secret=\(secret)&period=0", .oath(.periodOutOfRange(0))),
      (
        "otpauth://totp/x?secret=\(secret)&period=-30",
        .invalid("period", reason: "is not a whole number in range")
      ),
      (
        "otpauth://hotp/x?secret=\(secret)&counter=18446744073709551616",
        .invalid("counter", reason: "is not a whole number in range")
      ), ("otpauth://totp/%FF?secret=\(secret)", .notUTF8),
      ("otpauth://totp/a%00b?secret=\(secret)", .invalid("account", reason: "has a control character")),
      ("otpauth://totp/a%E2%80%AEb?secret=\(secret)", .invalid("account", reason: "has a control character")),
      (
        "otpauth://totp/x?secret=\(secret)&image=javascript:alert(1)",
        .invalid("image", reason: "is a script; remove it")
      ),
      (
        "otpauth://totp/x?secret=\(secret)&policies=e30x",
        .invalid("policies", reason: "are not a JSON object")
      ),
      ("mfauth://totp/x?secret=\(secret)&s=AAAA", .missing("r (endpoint)")),
      ("pushauth://push/x?r=aHR0cHM6Ly9h&a=aHR0cHM6Ly9h", .missing("s (shared secret)")),
      (
        "pushauth://push/x?r=ZnRwOi8vYQ&a=aHR0cHM6Ly9h&s=AAAA",
        .invalid("r (endpoint)", reason: "is not an http or https URL")
      ),
    ])
  func refused(uri: String, failure: InterchangeFailure) {
    #expect(throws: failure) { try AuthenticatorURI(uri) }
  }

  @Test("hash functions of older authenticators are read and written, md5 is not")
  func olderAlgorithms() throws {
    for (name, algorithm) in [("sha224", OATHAlgorithm.sha224), ("SHA384", .sha384)] {
      let uri = "otpauth://totp/n?secret=\(Self.secret)&algorithm=\(name)"
      let account = try OTPAccount(uri: uri)
      #expect(account.algorithm == algorithm)
      #expect(try OTPAccount(uri: account.insecureURI()).algorithm == algorithm)
      let written = MigrationBatch.insecureURIs(of: [account])
      #expect(
        written.skipped.map(\.reason) == [
          .notRepresentable(.google, reason: "the algorithm \(algorithm.rawValue)")
        ])
    }
  }

  @Test(
    "text with markup or paths is refused, also if encoded repeatedly",
    arguments: [
      "javascript:alert(1)", "JavaScript:alert(1)", "java%73cript:x", "%2573cript",
      "<script>alert(1)</script>",
      "a<b>", "<img src=x onerror=y>", "<!doctype x>", "%3Cb%3E", "%253Cb%253E", "../../etc/passwd",
      "..\\x", "a/../b", "a/..", "%2e%2e%2fx", "a%00b", "a%2500b", "a%25E2%2580%25AEb",
    ])
  func hostile(text: String) {
    let escaped = PercentEncodingSample.escapeAll(text)
    let isHarmless = text == "%2573cript"
    for uri in [
      "otpauth://totp/\(escaped):n?secret=\(Self.secret)",
      "otpauth://totp/i:\(escaped)?secret=\(Self.secret)",
      "otpauth://totp/i:n?secret=\(Self.secret)&issuer=\(escaped)",
      "otpauth://totp/i:n?secret=\(Self.secret)&image=\(escaped)",
      "otpauth://totp/i:n?secret=\(Self.secret)&uid=\(escaped)",
      "otpauth://totp/i:n?secret=\(Self.secret)&oid=\(Base64URL.encode(Array(text.utf8)))",
    ] {
      if isHarmless {
        #expect(throws: Never.self, "\(uri)") { try AuthenticatorURI(uri) }
      } else {
        #expect(throws: InterchangeFailure.self, "\(uri)") { try AuthenticatorURI(uri) }
      }
    }
  }

  @Test("harmless text that resembles markup is read")
  func harmless() throws {
    for text in [
      "Alice <alice@example.com>", "a < b > c", "..", "a..b", "100%", "<3", "x <y", "AC/DC", "1/2",
    ] {
      let uri = "otpauth://totp/Acme:\(PercentEncodingSample.escapeAll(text))?secret=\(Self.secret)"
      #expect(try AuthenticatorURI(uri).account == text)
    }
  }

  @Test("ten megabytes are refused before parsing")
  func tenMegabytes() {
    let text = String(repeating: "%25", count: 3_500_000)
    for uri in ["otpauth://totp/\(text)?secret=A", "mfauth://totp/n?policies=\(text)", text] {
      #expect(throws: InterchangeFailure.tooLarge("URI", limit: AuthenticatorURI.maximumByteCount)) {
        try AuthenticatorURI(uri)
      }
    }
    let name = String(repeating: "n", count: 1025)
    #expect(throws: InterchangeFailure.tooLarge("account", limit: 1024)) {
      try AuthenticatorURI("otpauth://totp/\(name)?secret=\(Self.secret)")
    }
  }

  @Test("a value that is too long is refused")
  func bounds() {
    let long = String(repeating: "a", count: AuthenticatorURI.maximumParameterByteCount + 1)
    #expect(throws: InterchangeFailure.tooLarge("x", limit: AuthenticatorURI.maximumParameterByteCount)) {
      try OTPAccount(uri: "otpauth://totp/n?secret=\(Self.secret)&x=\(long)")
    }
    let many = String(repeating: "&a=1", count: AuthenticatorURI.maximumParameterCount)
    #expect(
      throws: InterchangeFailure.tooLarge(
        "number of parameters", limit: AuthenticatorURI.maximumParameterCount)
    ) { try OTPAccount(uri: "otpauth://totp/n?secret=\(Self.secret)\(many)") }
    #expect(throws: InterchangeFailure.tooLarge("URI", limit: AuthenticatorURI.maximumByteCount)) {
      try OTPAccount(
        uri: "otpauth://totp/" + String(repeating: "a", count: AuthenticatorURI.maximumByteCount))
    }
  }

  @Test("a secret written with 0, 1 and 8 is read in transcribed mode")
  func transcribed() throws {
    let uri = "otpauth://totp/n?secret=G0ZD1N8V"
    #expect(throws: InterchangeFailure.self) { try OTPAccount(uri: uri) }
    let account = try OTPAccount(uri: uri, secrets: .transcribed)
    #expect(account.secret.withSecret { $0.insecureCopy() } == (try Base32.decode("GOZDLNBV")))
  }

  @Test("an account that the URI cannot express is refused")
  func notRepresentable() throws {
    let account = try SampleAccounts.account("A", "b", .totp(period: 30, start: 5))
    #expect(throws: InterchangeFailure.notRepresentable(.otpauth, reason: "when the first period began (T0)"))
    {
      try account.insecureURI()
    }
  }

  @Test("a random account survives a round trip through its URI")
  func roundTrip() throws {
    let alphabet = Array("aZ9 :%?&=#+/\"'äß中🙂-_.~@;,|\\")
    let source = SeededRandomSource(seed: 22)
    var random = SplitMix64(seed: 22)
    func text(_ counts: ClosedRange<Int>) -> String {
      let raw = String(
        (0..<Int.random(in: counts, using: &random)).map { _ in alphabet[random.next(below: alphabet.count)] }
      )
      // Spaces at the ends are trimmed, and a path out of the folder is rejected.
      return raw.replacing("..", with: ".").split(separator: " ").joined(separator: " ")
    }
    for number in 0..<2000 {
      let kind: OTPAccount.Kind =
        Bool.random(using: &random)
        ? .hotp(counter: .random(in: 0 ... .max, using: &random))
        : .totp(period: .random(in: 1...3600, using: &random))
      let account = try SampleAccounts.account(
        text(0...12), "x" + text(0...12), kind,
        algorithm: OATHAlgorithm.allCases[number % OATHAlgorithm.allCases.count],
        digits: .random(in: 6...10, using: &random),
        secret: source.bytes(.random(in: 1...64, using: &random)),
        foreign: [ForeignMember(format: .otpauth, name: "note", value: text(1...9))])
      let uri = try account.insecureURI()
      #expect(uri.utf8.allSatisfy { 0x21...0x7E ~= $0 })
      let again = try OTPAccount(uri: uri)
      #expect([again].facts == [account].facts && again.foreign == account.foreign)
      #expect(try again.insecureURI() == uri)
    }
  }

  @Test("a combined URI has both halves, and survives printing")
  func combined() throws {
    let endpoint = Base64URL.encode(Array("https://am.example/push?_action=register".utf8))
    let answer = Base64URL.encode(Array("https://am.example/push?_action=authenticate".utf8))
    let policies = Base64.encode(Array(#"{"biometricAvailable":{},"deviceTampering":{"score":0.8}}"#.utf8))
    let uri =
      "mfauth://totp/ForgeRock:demo?a=\(answer)&image=aHR0cDovL2EuZXhhbXBsZS9pLnBuZw&b=%23032b75&r=\(endpoint)&s=b3uYLkQ7dRPjBaIzV0t_aijoXRgMq-NP5AwVAvRfa_E&c=9giiBAdUHjqpo0XE4YdZ7pRlv0hrQYwDz8Z1wwLLbkg&l=YW1sYmNvb2tpZT0wMQ&m=REGISTER:1&issuer=Rm9yZ2VSb2Nr&digits=6&secret=\(Self.secret)&period=30&policies=\(PercentEncodingSample.escape(policies))&uid=ZGVtbw&pid=device"
    let parsed = try AuthenticatorURI(uri)
    #expect(parsed.issuer == "ForgeRock" && parsed.account == "demo" && parsed.otherIssuer == nil)
    #expect(parsed.push?.registrationEndpoint == "https://am.example/push?_action=register")
    #expect(parsed.push?.challenge?.count == 32 && parsed.push?.loadBalancer == "amlbcookie=01")
    #expect(parsed.push?.messageID == "REGISTER:1" && parsed.backgroundColor == "032b75")
    #expect(
      parsed.image == "http://a.example/i.png" && parsed.userID == "demo" && parsed.resourceID == "device")
    #expect(parsed.policies?["deviceTampering"] == .object(["score": .number(0.8)]))
    let again = try AuthenticatorURI(parsed.insecureText)
    #expect(again.insecureText == parsed.insecureText && again.policies == parsed.policies)
    #expect(again.push?.sharedSecret.withSecret { $0.insecureCopy().count } == 32)
    #expect(throws: InterchangeFailure.unsupportedScheme("mfauth")) { try OTPAccount(uri: uri) }
  }

  @Test("an issuer that only resembles Base64 stays unchanged in a combined URI")
  func plainIssuer() throws {
    for issuer in ["Test", "ForgeRock", "Acme Inc"] {
      let uri =
        "mfauth://totp/n?secret=\(Self.secret)&r=https://a.example&a=https://a.example&s=AAAA&issuer=\(issuer)"
      #expect(try AuthenticatorURI(uri).issuer == issuer)
    }
  }

  @Test("an account's description contains only its name")
  func redacted() throws {
    let account = try SampleAccounts.account()
    #expect("\(account)" == "Example (alice@example.com)")
    var dumped = ""
    dump(account, to: &dumped)
    #expect(!dumped.contains("SharedSecretBox"))
    #expect("\(try AuthenticatorURI("otpauth://totp/n?secret=\(Self.secret)"))" == "otpauth URI")
  }
}

enum PercentEncodingSample {
  static func escapeAll(_ text: String) -> String {
    text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func escape(_ text: String) -> String {
    text.map { $0 == "+" ? "%2B" : $0 == "/" ? "%2F" : $0 == "=" ? "%3D" : String($0) }.joined()
  }
}
