import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH

/// The URIs that add an account to an authenticator.
let uriOperations = [
  Operation(name: "uri-parse") { request in
    let modes: [String: Base32.Mode] = ["lenient": .lenient, "transcribed": .transcribed]
    let secrets = try request.choice("secrets", modes, default: .lenient)
    return try AuthenticatorURI(try request.string("uri"), secrets: secrets).members
  },
  Operation(name: "uri-format") { request in
    ["uri": .string(try AuthenticatorURI(request).insecureText)]
  },
]

extension AuthenticatorURI {
  fileprivate var members: JSONObject {
    var object: JSONObject = [
      "scheme": .string(scheme.rawValue), "issuer": .string(issuer), "account": .string(account),
    ]
    object["type"] = "push"
    if let oath {
      object["secretHex"] = .string(oath.secret.withSecret { Hex.encode($0.insecureCopy()) })
      object["algorithm"] = .string(oath.algorithm.rawValue)
      object["digits"] = .integer(Int64(oath.digits))
      switch oath.kind {
      case .totp(let period, _):
        object["type"] = "totp"
        object["period"] = .integer(Int64(period))
      case .hotp(let counter):
        object["type"] = "hotp"
        object["counter"] = Int64(exactly: counter).map { .integer($0) } ?? .string(String(counter))
      case .ocra: break  // not possible in a URI
      }
    }
    for (name, text) in [
      ("otherIssuer", otherIssuer), ("image", image), ("backgroundColor", backgroundColor),
      ("userId", userID),
      ("resourceId", resourceID),
    ] { object[name] = text.map { .string($0) } }
    object["policies"] = policies.map { .object($0) }
    if let push {
      var half: JSONObject = [
        "registrationEndpoint": .string(push.registrationEndpoint),
        "authenticationEndpoint": .string(push.authenticationEndpoint),
        "sharedSecretHex": .string(push.sharedSecret.withSecret { Hex.encode($0.insecureCopy()) }),
      ]
      half["challengeHex"] = push.challenge.map { .string(Hex.encode($0)) }
      for (name, text) in [
        ("loadBalancer", push.loadBalancer), ("messageId", push.messageID), ("userId", userID),
        ("resourceId", resourceID),
      ] { half[name] = text.map { .string($0) } }
      object["push"] = .object(half)
    }
    if !others.isEmpty {
      object["others"] = .array(
        others.map { .object(["name": .string($0.name), "value": .string($0.value)]) })
    }
    return object
  }

  fileprivate init(_ request: Request) throws {
    let members = request.members
    guard let scheme = Scheme(rawValue: try members.optionalString("scheme") ?? "otpauth") else {
      throw InterchangeFailure.unsupportedScheme(String(try members.string("scheme").prefix(40)))
    }
    self.init(
      scheme: scheme, issuer: try members.optionalString("issuer") ?? "",
      account: try members.optionalString("account") ?? "",
      otherIssuer: try members.optionalString("otherIssuer"))
    guard !(issuer.isEmpty && account.isEmpty) else { throw InterchangeFailure.missing("issuer and account") }
    let isPushOnly = try scheme == .pushauth || scheme == .mfauth && members.optionalString("type") == "push"
    if !isPushOnly { oath = try OATH(request) }
    image = try members.optionalString("image")
    backgroundColor = try members.optionalString("backgroundColor").map { String($0.drop { $0 == "#" }) }
    policies = try members.optionalObject("policies")
    let half = try members.optionalObject("push").map(Request.init)
    userID = try members.optionalString("userId") ?? half?.members.optionalString("userId")
    resourceID = try members.optionalString("resourceId") ?? half?.members.optionalString("resourceId")
    if scheme != .otpauth, half != nil || isPushOnly {
      guard let half else { throw JSONFailure.missingMember("push") }
      push = Push(
        registrationEndpoint: try half.string("registrationEndpoint"),
        authenticationEndpoint: try half.string("authenticationEndpoint"),
        sharedSecret: SharedSecretBox(try half.secret("sharedSecretHex")),
        challenge: half.members.contains("challengeHex") ? try half.hex("challengeHex") : nil,
        loadBalancer: try half.members.optionalString("loadBalancer"),
        messageID: try half.members.optionalString("messageId"))
    }
    for case .object(let other) in try members.optionalArray("others") ?? [] {
      others.append((try other.string("name"), try other.string("value")))
    }
    // The printed URI must be readable again, for any input.
    _ = try AuthenticatorURI(insecureText)
  }
}

extension AuthenticatorURI.OATH {
  fileprivate init(_ request: Request) throws {
    let names = OATHAlgorithm.allCases.map { ($0.rawValue.lowercased(), $0) }
    let algorithm = try request.choice("algorithm", Dictionary(uniqueKeysWithValues: names), default: .sha1)
    let kind: OTPAccount.Kind
    switch try request.members.optionalString("type") ?? "totp" {
    case "totp": kind = .totp(period: Int(clamping: try request.integer("period", default: 30)))
    case "hotp":
      kind = .hotp(counter: request.members.contains("counter") ? try request.unsigned("counter") : 0)
    case let other: throw InterchangeFailure.unsupportedType(String(other.prefix(40)))
    }
    self.init(
      kind: kind, algorithm: algorithm, digits: Int(clamping: try request.integer("digits", default: 6)),
      secret: SharedSecretBox(try request.secret("secretHex")))
  }
}
