import SignetCrypto
import SignetJSON
import SignetUAF
import Testing

/// The allowed values of one member of a dictionary.
struct UAFRule: Sendable {
  /// The kinds of values of a member.
  enum Kind: Sendable {
    /// A text with a length in characters.
    case text(ClosedRange<Int>)
    /// A text with a specific form, and invalid examples.
    case form([String])
    /// Base64url of a number of bytes.
    case bytes(ClosedRange<Int>)
    /// A whole number from 0.
    case number(Int64)
    case truth
    case dictionary
    /// A list with a number of elements.
    case list(ClosedRange<Int>)
  }

  let path: String
  let kind: Kind
  let isRequired: Bool
  let takesNull: Bool

  init(_ path: String, _ kind: Kind, isRequired: Bool = true, takesNull: Bool = false) {
    (self.path, self.kind, self.isRequired, self.takesNull) = (path, kind, isRequired, takesNull)
  }

  static func optional(_ path: String, _ kind: Kind, takesNull: Bool = false) -> UAFRule {
    UAFRule(path, kind, isRequired: false, takesNull: takesNull)
  }

  /// Returns replacements of a member, each with whether it is valid; `nil` removes the member.
  func attempts(_ present: JSONValue) -> [(name: String, value: JSONValue?, isValid: Bool)] {
    var list: [(String, JSONValue?, Bool)] = [("missing", nil, !isRequired), ("null", .null, takesNull)]
    var types: [(String, JSONValue)] = [
      ("a text", "AAAA"), ("a number", 7), ("a truth", true), ("a dictionary", ["a": 1]), ("a list", ["a"]),
    ]
    switch kind {
    case .text(let counts):
      types.removeAll { $0.0 == "a text" }
      let letters = { (count: Int) in JSONValue.string(String(repeating: "a", count: count)) }
      list.append(("of the fewest characters", letters(counts.lowerBound), true))
      list.append(("of the most characters", letters(counts.upperBound), true))
      list.append(("a character too long", letters(counts.upperBound + 1), false))
      if counts.lowerBound > 0 { list.append(("empty", "", false)) }
      if counts.upperBound <= 1536 {
        let wide = JSONValue.string(String(repeating: "\u{1F511}", count: counts.upperBound))
        list.append(("of the most characters, four bytes each", wide, true))
      }
    case .form(let wrong):
      types.removeAll { $0.0 == "a text" }
      for text in wrong { list.append(("\"\(text.prefix(20))\"", .string(text), false)) }
    case .bytes(let counts):
      types.removeAll { $0.0 == "a text" }
      let bytes = { (count: Int) in [UInt8](repeating: 0x89, count: count) }
      let text = { (count: Int) in JSONValue.string(Base64URL.encode(bytes(count))) }
      list += [
        ("of the fewest bytes", text(counts.lowerBound), true),
        ("of the most bytes", text(counts.upperBound), true),
        ("a byte too long", text(counts.upperBound + 1), false),
        ("a byte too short", text(counts.lowerBound - 1), false), ("empty", "", false),
        ("with padding", .string(Base64.encode(bytes(counts.upperBound)).base64URL), true),
        ("not base64url", "A$AA", false), ("in the alphabet of Base64", "+/+/+/+/+/+/", false),
        ("with blanks", .string(" " + Base64URL.encode(bytes(counts.lowerBound))), false),
      ]
    case .number(let most):
      types.removeAll { $0.0 == "a number" }
      list += [
        ("0", 0, true), ("the largest", .integer(most), true), ("negative", -1, false),
        ("with a fraction", .number(1.5), false), ("a number in a text", "1", false),
      ]
      if most < .max { list.append(("a number too large", .integer(most + 1), false)) }
    case .truth: types.removeAll { $0.0 == "a truth" }
    case .dictionary: types.removeAll { $0.0 == "a dictionary" }
    case .list(let counts):
      types.removeAll { $0.0 == "a list" }
      list.append(("an empty list", [], counts.lowerBound == 0))
      if case .array(let elements) = present, let first = elements.first {
        let many = [JSONValue](repeating: first, count: counts.upperBound + 1)
        list.append(("an element too many", .array(many), false))
      }
      list.append(("a list with null", [.null], false))
    }
    return list + types.map { ($0.0, $0.1, false) }
  }
}

/// A dictionary of the protocol: a valid one, and the rules for its members.
struct UAFDictionary: Sendable, CustomTestStringConvertible {
  let name: String
  let good: JSONObject
  let rules: [UAFRule]
  let read: @Sendable (JSONObject) throws -> Void

  init(
    _ name: String, _ good: JSONObject, _ rules: [UAFRule],
    _ read: @escaping @Sendable (JSONObject) throws -> Void
  ) {
    (self.name, self.good, self.rules, self.read) = (name, good, rules, read)
  }

  var testDescription: String { name }
}

extension String {
  /// Base64 in the other alphabet; padding stays.
  fileprivate var base64URL: String {
    String(map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }
}

extension JSONValue {
  /// Returns the value at a path of members and list indices.
  fileprivate func found(_ path: ArraySlice<Substring>) -> JSONValue? {
    guard let first = path.first else { return self }
    switch self {
    case .object(let object): return object[String(first)]?.found(path.dropFirst())
    case .array(let list): return Int(first).flatMap { list[$0].found(path.dropFirst()) }
    default: return nil
    }
  }

  /// Returns a copy with another value at a path.
  fileprivate func replacing(_ path: ArraySlice<Substring>, _ value: JSONValue?) -> JSONValue {
    guard let first = path.first else { return value ?? .null }
    switch self {
    case .object(var object):
      let rest = path.dropFirst()
      object[String(first)] = rest.isEmpty ? value : object[String(first)]?.replacing(rest, value)
      return .object(object)
    case .array(var list):
      guard let place = Int(first) else { return self }
      list[place] = list[place].replacing(path.dropFirst(), value)
      return .array(list)
    default: return self
    }
  }
}

/// Every dictionary of UAF 1.1 with the protocol's ranges for its members.
enum UAFDictionaries {
  private static let version: JSONObject = ["major": 1, "minor": 1]
  private static let key32 = JSONValue.string(Base64URL.encode([UInt8](repeating: 7, count: 32)))
  private static let challenge = JSONValue.string(Base64URL.encode([UInt8](1...32)))
  private static let exts: JSONValue = [["id": "e", "data": "", "fail_if_unknown": false]]
  private static let criteria: JSONObject = [
    "aaid": ["7357#0001"], "vendorID": ["7357"], "keyIDs": [key32], "userVerification": 4, "keyProtection": 1,
    "matcherProtection": 1, "attachmentHint": 1, "tcDisplay": 1, "authenticationAlgorithms": [1],
    "assertionSchemes": ["UAFV1TLV"], "attestationTypes": [0x3E08], "authenticatorVersion": 1, "exts": exts,
  ]
  private static let policy: JSONObject = [
    "accepted": [[.object(criteria)]], "disallowed": [["aaid": ["7357#0002"]]],
  ]
  private static let png: JSONObject = [
    "width": 2, "height": 2, "bitDepth": 8, "colorType": 3, "compression": 0, "filter": 0, "interlace": 0,
    "plte": [["r": 1, "g": 2, "b": 3]],
  ]

  private static func header(_ operation: String) -> JSONObject {
    [
      "upv": .object(version), "op": .string(operation), "appID": "https://a.example/f", "serverData": "s",
      "exts": exts,
    ]
  }

  private static let pictureContent = Base64URL.encode([0x89, 0x50, 0x4E, 0x47])

  private static let headerRules: [UAFRule] = [
    UAFRule("header", .dictionary), UAFRule("header.upv", .dictionary),
    UAFRule("header.upv.major", .number(65_535)), UAFRule("header.upv.minor", .number(65_535)),
    UAFRule("header.op", .form(["", "reg", "Reg ", "None", String(repeating: "R", count: 33)])),
    .optional("header.appID", .text(0...512)), .optional("header.serverData", .text(1...1536)),
    .optional("header.exts", .list(0...64), takesNull: true), UAFRule("header.exts.0", .dictionary),
    UAFRule("header.exts.0.id", .text(1...32)), UAFRule("header.exts.0.data", .text(0...65_536)),
    UAFRule("header.exts.0.fail_if_unknown", .truth),
  ]

  private static let policyRules: [UAFRule] = [
    UAFRule("policy", .dictionary), UAFRule("policy.accepted", .list(1...1024)),
    UAFRule("policy.accepted.0", .list(1...1024)), UAFRule("policy.accepted.0.0", .dictionary),
    .optional("policy.disallowed", .list(0...4096)),
  ]

  private static let criteriaRules: [UAFRule] = {
    let base = "policy.accepted.0.0."
    return [
      .optional(base + "aaid", .list(1...1024)),
      UAFRule(base + "aaid.0", .form(["", "7357", "7357#001", "7357#00011", "7357-0001", "735G#0001"])),
      .optional(base + "vendorID", .list(1...1024)),
      UAFRule(base + "vendorID.0", .form(["", "735", "73577", "735G"])),
      .optional(base + "keyIDs", .list(1...1024)), UAFRule(base + "keyIDs.0", .bytes(32...2048)),
      .optional(base + "userVerification", .number(0xFFFF_FFFF)),
      .optional(base + "keyProtection", .number(65_535)),
      .optional(base + "matcherProtection", .number(65_535)),
      .optional(base + "attachmentHint", .number(0xFFFF_FFFF)),
      .optional(base + "tcDisplay", .number(65_535)),
      .optional(base + "authenticationAlgorithms", .list(1...1024)),
      UAFRule(base + "authenticationAlgorithms.0", .number(65_535)),
      .optional(base + "assertionSchemes", .list(1...1024)),
      UAFRule(base + "assertionSchemes.0", .form([""])),
      .optional(base + "attestationTypes", .list(1...1024)),
      UAFRule(base + "attestationTypes.0", .number(65_535)),
      .optional(base + "authenticatorVersion", .number(65_535)),
      .optional(base + "exts", .list(0...64), takesNull: true),
    ]
  }()

  private static func pngRules(_ path: String, isRequired: Bool) -> [UAFRule] {
    [
      UAFRule(path, .dictionary, isRequired: isRequired), UAFRule("\(path).width", .number(0xFFFF_FFFF)),
      UAFRule("\(path).height", .number(0xFFFF_FFFF)), UAFRule("\(path).bitDepth", .number(255)),
      UAFRule("\(path).colorType", .number(255)), UAFRule("\(path).compression", .number(255)),
      UAFRule("\(path).filter", .number(255)), UAFRule("\(path).interlace", .number(255)),
      .optional("\(path).plte", .list(1...256)), UAFRule("\(path).plte.0", .dictionary),
      UAFRule("\(path).plte.0.r", .number(65_535)), UAFRule("\(path).plte.0.g", .number(65_535)),
      UAFRule("\(path).plte.0.b", .number(65_535)),
    ]
  }

  private static func assertionRules(hasPNG: Bool) -> [UAFRule] {
    [
      UAFRule("fcParams", .form(["", "$"])), UAFRule("assertions", .list(1...16)),
      UAFRule("assertions.0", .dictionary), UAFRule("assertions.0.assertionScheme", .text(1...64)),
      UAFRule("assertions.0.assertion", .bytes(1...4096)),
      .optional("assertions.0.exts", .list(0...64), takesNull: true),
    ]
      + (hasPNG
        ? [.optional("assertions.0.tcDisplayPNGCharacteristics", .list(0...64), takesNull: true)] : [])
  }

  private static func response(_ operation: String) -> JSONObject {
    [
      "header": .object(header(operation)),
      "fcParams": .string(
        FinalChallenge(
          FinalChallengeParams(appID: "a", challenge: [UInt8](1...8), facetID: "f")
        ).text),
      "assertions": [
        [
          "assertionScheme": "UAFV1TLV", "assertion": "AAAA", "tcDisplayPNGCharacteristics": [.object(png)],
          "exts": exts,
        ]
      ],
    ]
  }

  /// The messages and their parts.
  static let messages: [UAFDictionary] = [
    UAFDictionary(
      "RegistrationRequest",
      [
        "header": .object(header("Reg")), "challenge": challenge, "username": "alice",
        "policy": .object(policy),
      ],
      headerRules + [UAFRule("challenge", .bytes(8...64)), UAFRule("username", .text(1...128))] + policyRules
        + criteriaRules
    ) { _ = try RegistrationRequest($0) },
    UAFDictionary(
      "AuthenticationRequest",
      [
        "header": .object(header("Auth")), "challenge": challenge, "policy": .object(policy),
        "transaction": [
          [
            "contentType": "image/png", "content": .string(pictureContent),
            "tcDisplayPNGCharacteristics": .object(png),
          ]
        ],
      ],
      headerRules + [
        UAFRule("challenge", .bytes(8...64)), .optional("transaction", .list(1...16)),
        UAFRule("transaction.0", .dictionary),
        UAFRule(
          "transaction.0.contentType", .form(["", "text/html", "image/png ", "IMAGE/PNG", "text/plain"])),
        UAFRule("transaction.0.content", .form(["", "$", "AAAA"])),
      ] + pngRules("transaction.0.tcDisplayPNGCharacteristics", isRequired: true) + policyRules
    ) { _ = try AuthenticationRequest($0) },
    UAFDictionary(
      "Transaction of text", ["contentType": "text/plain", "content": "QUJD"],
      [
        UAFRule(
          "content",
          .form([
            "", "$", Base64URL.encode([0x41, 0x80]), Base64URL.encode([UInt8](repeating: 0x41, count: 201)),
          ]))
      ]
    ) { _ = try UAFTransaction($0) },
    UAFDictionary("RegistrationResponse", response("Reg"), headerRules + assertionRules(hasPNG: true)) {
      _ = try RegistrationResponse($0)
    },
    UAFDictionary("AuthenticationResponse", response("Auth"), headerRules + assertionRules(hasPNG: false)) {
      _ = try AuthenticationResponse($0)
    },
    UAFDictionary(
      "DeregistrationRequest",
      ["header": .object(header("Dereg")), "authenticators": [["aaid": "7357#0001", "keyID": key32]]],
      headerRules + [
        UAFRule("authenticators", .list(1...1024)), UAFRule("authenticators.0", .dictionary),
        UAFRule("authenticators.0.aaid", .form(["7357", "7357#001", "7357#0001x", "*"])),
        UAFRule(
          "authenticators.0.keyID",
          .form([
            "AAAA", "$", Base64URL.encode([UInt8](repeating: 1, count: 31)),
            Base64URL.encode([UInt8](repeating: 1, count: 2049)),
          ])),
      ]
    ) { _ = try DeregistrationRequest($0) },
  ]

  private static func final(_ object: JSONObject) throws {
    do throws(MessageFailure) { _ = try FinalChallenge(parsing: Base64URL.encode(object.bytes)) } catch {
      throw error
    }
  }

  /// The contents of messages, and the envelopes of messages.
  static let others: [UAFDictionary] = [
    UAFDictionary(
      "FinalChallengeParams",
      [
        "appID": "a", "challenge": challenge, "facetID": "f",
        "channelBinding": [
          "serverEndPoint": "a", "tlsServerCertificate": "b", "tlsUnique": "c", "cid_pubkey": "d",
        ],
      ],
      [
        UAFRule("appID", .text(1...512)), UAFRule("challenge", .bytes(8...64)),
        UAFRule("facetID", .text(1...512)),
        UAFRule("channelBinding", .dictionary),
        .optional("channelBinding.serverEndPoint", .text(0...1024), takesNull: true),
        .optional("channelBinding.tlsServerCertificate", .text(0...16_384), takesNull: true),
        .optional("channelBinding.tlsUnique", .text(0...1024), takesNull: true),
        .optional("channelBinding.cid_pubkey", .text(0...1024), takesNull: true),
      ]
    ) { try final($0) },
    UAFDictionary(
      "JwkKey",
      {
        let key = P256.Signing.PrivateKey().publicKey
        return [
          "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(key.x)),
          "y": .string(Base64URL.encode(key.y)),
        ]
      }(),
      [
        UAFRule("kty", .form(["", "ec", "RSA", "oct"])), UAFRule("crv", .form(["", "P-384", "p-256"])),
        UAFRule("x", .form(["", "AAAA", "$"])), UAFRule("y", .form(["", "AAAA", "$"])),
      ]
    ) { _ = try ChannelIDKey(parsing: Base64URL.encode($0.bytes)) },
    UAFDictionary(
      "UAFMessage", ["uafProtocolMessage": "[]", "additionalData": 1],
      [UAFRule("uafProtocolMessage", .form([""]))]
    ) { _ = try UAFMessage(parsing: $0.bytes) },
    UAFDictionary(
      "GetUAFRequest", ["op": "Reg", "previousRequest": "[]", "context": "{}"],
      [
        .optional("op", .form(["", "reg", "Delete"])), .optional("previousRequest", .form([])),
        .optional("context", .text(0...65_536)),
      ]
    ) { _ = try GetUAFRequest(parsing: $0.bytes) },
    UAFDictionary(
      "ReturnUAFRequest", ["statusCode": 1200, "uafRequest": "[]", "op": "Reg", "lifetimeMillis": 1],
      [
        UAFRule("statusCode", .number(65_535)), .optional("uafRequest", .form([""])),
        .optional("op", .form(["", "reg"])), .optional("lifetimeMillis", .number(.max)),
      ]
    ) { _ = try ReturnUAFRequest(parsing: $0.bytes) },
    UAFDictionary(
      "SendUAFResponse", ["uafResponse": "[]", "context": "{}"],
      [UAFRule("uafResponse", .form([""])), .optional("context", .text(0...65_536))]
    ) { _ = try SendUAFResponse(parsing: $0.bytes) },
    UAFDictionary(
      "ServerResponse and Token",
      [
        "statusCode": 1200, "description": "d", "additionalTokens": [["type": "JWT", "value": "v"]],
        "location": "l", "postData": "p", "newUAFRequest": "[]",
      ],
      [
        UAFRule("statusCode", .number(65_535)), .optional("description", .text(0...65_536)),
        .optional("additionalTokens", .list(0...64)), UAFRule("additionalTokens.0", .dictionary),
        UAFRule("additionalTokens.0.type", .form(["", "jwt", "COOKIE"])),
        UAFRule("additionalTokens.0.value", .text(1...65_536)), .optional("location", .text(0...65_536)),
        .optional("postData", .text(0...65_536)), .optional("newUAFRequest", .form([""])),
      ]
    ) { _ = try UAFServerResponse(parsing: $0.bytes) },
    UAFDictionary(
      "DiscoveryData",
      [
        "supportedUAFVersions": [.object(version)], "clientVendor": "v", "clientVersion": .object(version),
        "availableAuthenticators": [],
      ],
      [
        UAFRule("supportedUAFVersions", .list(1...64)), UAFRule("supportedUAFVersions.0", .dictionary),
        UAFRule("supportedUAFVersions.0.major", .number(65_535)), UAFRule("clientVendor", .text(1...4096)),
        UAFRule("clientVersion", .dictionary), UAFRule("clientVersion.minor", .number(65_535)),
        UAFRule("availableAuthenticators", .list(0...256)),
      ]
    ) { _ = try DiscoveryData(parsing: $0.bytes) },
    UAFDictionary(
      "TrustedFacetList", ["trustedFacets": [["version": .object(version), "ids": ["a"]]]],
      [
        UAFRule("trustedFacets", .list(1...16)), UAFRule("trustedFacets.0", .dictionary),
        UAFRule("trustedFacets.0.version", .dictionary),
        UAFRule("trustedFacets.0.version.major", .number(65_535)),
        UAFRule("trustedFacets.0.version.minor", .number(65_535)),
        UAFRule("trustedFacets.0.ids", .list(0...4096)),
        UAFRule("trustedFacets.0.ids.0", .form([""])),
      ]
    ) { _ = try TrustedFacetList(parsing: $0.bytes) },
    UAFDictionary(
      "ASMRequest of Register",
      [
        "requestType": "Register", "asmVersion": .object(version), "authenticatorIndex": 0, "exts": exts,
        "args": ["appID": "a", "username": "alice", "finalChallenge": "AAAA", "attestationType": 0x3E08],
      ],
      [
        UAFRule("requestType", .form(["", "register", "Delete"])), UAFRule("asmVersion", .dictionary),
        UAFRule("asmVersion.major", .number(65_535)), UAFRule("authenticatorIndex", .number(65_535)),
        .optional("exts", .list(0...64), takesNull: true), UAFRule("args", .dictionary),
        UAFRule("args.appID", .text(1...512)), UAFRule("args.username", .text(1...128)),
        UAFRule("args.finalChallenge", .text(1...32_768)), UAFRule("args.attestationType", .number(65_535)),
      ]
    ) { _ = try ASMRequest($0) },
    UAFDictionary(
      "ASMRequest of Authenticate",
      [
        "requestType": "Authenticate", "asmVersion": .object(version), "authenticatorIndex": 0,
        "args": [
          "appID": "a", "keyIDs": [key32], "finalChallenge": "AAAA",
          "transaction": [["contentType": "text/plain", "content": "QUJD"]],
        ],
      ],
      [
        UAFRule("args.appID", .text(1...512)), .optional("args.keyIDs", .list(0...1024)),
        UAFRule("args.keyIDs.0", .bytes(32...2048)), UAFRule("args.finalChallenge", .text(1...32_768)),
        .optional("args.transaction", .list(1...16)), UAFRule("args.transaction.0", .dictionary),
      ]
    ) { _ = try ASMRequest($0) },
    UAFDictionary(
      "ASMRequest of Deregister",
      [
        "requestType": "Deregister", "asmVersion": .object(version), "authenticatorIndex": 0,
        "args": ["appID": "a", "keyID": key32],
      ], [UAFRule("args.appID", .text(1...512)), UAFRule("args.keyID", .form(["AAAA", "$"]))]
    ) { _ = try ASMRequest($0) },
  ]

}

/// Each member on both sides of its limits.
@Suite("Range rules of UAF dictionaries")
struct UAFRuleTests {
  private func check(_ dictionary: UAFDictionary) throws {
    try dictionary.read(dictionary.good)
    for rule in dictionary.rules {
      let path = rule.path.split(separator: ".")[...]
      let present = try #require(JSONValue.object(dictionary.good).found(path), "\(rule.path)")
      for (name, value, isValid) in rule.attempts(present) {
        let isIndex = path.last.flatMap { Int($0) } != nil
        if isIndex, value == nil { continue }
        guard case .object(let changed) = JSONValue.object(dictionary.good).replacing(path, value) else {
          continue
        }
        var failure: MessageFailure?
        do { try dictionary.read(changed) } catch let error as MessageFailure { failure = error }
        #expect((failure == nil) == isValid, "\(rule.path) \(name): \(failure.map(\.description) ?? "taken")")
        // The failure names the wrong member, with its list.
        guard let failure, !isValid, case .member(let member, _) = failure else { continue }
        let words = path.filter { Int($0) == nil }
        #expect(
          words.contains { member.contains($0) } || member.hasPrefix("cid_pubkey"),
          "\(rule.path) \(name): \(member)")
      }
    }
  }

  @Test(
    "messages: each member missing, null, of each other type, and on both sides of its bounds",
    arguments: UAFDictionaries.messages)
  func messages(_ dictionary: UAFDictionary) throws { try check(dictionary) }

  @Test("nested dictionaries and HTTP messages", arguments: UAFDictionaries.others)
  func others(_ dictionary: UAFDictionary) throws { try check(dictionary) }

  @Test(
    "a repeated member and a nested list are refused",
    arguments: UAFDictionaries.messages + UAFDictionaries.others)
  func twice(_ dictionary: UAFDictionary) throws {
    let text = JSONValue.object(dictionary.good).text
    let name = try #require(dictionary.good.members.first?.name)
    let doubled = Array("{\"\(name)\":1,\(text.dropFirst())".utf8)
    #expect(throws: JSONFailure.self) { _ = try JSONObject(parsing: doubled) }
    let path = try #require(dictionary.rules.first).path.split(separator: ".")[...]
    guard case .object(let nested) = JSONValue.object(dictionary.good).replacing(path, [[[]]]) else {
      Issue.record("another case")
      return
    }
    #expect(throws: MessageFailure.self) { try dictionary.read(nested) }
  }
}
