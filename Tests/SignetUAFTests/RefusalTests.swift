import SignetCrypto
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

/// A way to spoil a valid message, and the resulting status.
struct Spoiled: Sendable, CustomTestStringConvertible {
  let name: String
  let status: UAFStatus
  let edit: @Sendable (inout MessageMaker) -> Void

  var testDescription: String { name }

  init(_ name: String, _ status: UAFStatus, _ edit: @escaping @Sendable (inout MessageMaker) -> Void) {
    (self.name, self.status, self.edit) = (name, status, edit)
  }

  /// Errors for both kinds of responses; numbers are those of the list of negative tests.
  static let common: [Spoiled] = shape + headers + challenges + assertions

  private static let shape: [Spoiled] = [
    Spoiled("2 header missing", .badRequest) { $0.message = { $0["header"] = nil } },
    Spoiled("2 header is null", .badRequest) { $0.message = { $0["header"] = .null } },
    Spoiled("2 header is a list", .badRequest) { $0.message = { $0["header"] = [] } },
    Spoiled("2 upv missing", .badRequest) { $0.header["upv"] = nil },
    Spoiled("2 upv a string", .badRequest) { $0.header["upv"] = "1.1" },
    Spoiled("2 upv without minor", .badRequest) { $0.header["upv"] = ["major": 1] },
    Spoiled("2 upv with a text", .badRequest) { $0.header["upv"] = ["major": "1", "minor": 1] },
    Spoiled("2 upv negative", .badRequest) { $0.header["upv"] = ["major": -1, "minor": 1] },
    Spoiled("2 upv too large", .badRequest) { $0.header["upv"] = ["major": 65_536, "minor": 1] },
    Spoiled("2 upv not supported", .badRequest) { $0.header["upv"] = ["major": 1, "minor": 7] },
    Spoiled("2 upv not that of the request", .badRequest) { $0.header["upv"] = ["major": 1, "minor": 0] },
    Spoiled("2 op missing", .badRequest) { $0.header["op"] = nil },
    Spoiled("2 op empty", .badRequest) { $0.header["op"] = "" },
    Spoiled("2 op a number", .badRequest) { $0.header["op"] = 1 },
    Spoiled("3 op unknown", .badRequest) { $0.header["op"] = "reg" },
    Spoiled("3 op of another operation", .badRequest) { $0.header["op"] = "Dereg" },
    Spoiled("25 header extension that has to be known", .unacceptableContent) {
      $0.header["exts"] = [["id": "x", "data": "", "fail_if_unknown": true]]
    },
    Spoiled("25 header extension without data", .badRequest) {
      $0.header["exts"] = [["id": "x", "fail_if_unknown": false]]
    },
    Spoiled("25 header extension with a long id", .badRequest) {
      $0.header["exts"] = [
        ["id": .string(String(repeating: "x", count: 33)), "data": "", "fail_if_unknown": false]
      ]
    },
    Spoiled("25 header extensions no list", .badRequest) { $0.header["exts"] = "x" },
  ]

  private static let headers: [Spoiled] = [
    Spoiled("4 serverData missing", .requestInvalid) { $0.header["serverData"] = nil },
    Spoiled("4 serverData empty", .badRequest) { $0.header["serverData"] = "" },
    Spoiled("4 serverData changed", .requestInvalid) { $0.header["serverData"] = "State" },
    Spoiled("4 serverData too long", .badRequest) {
      $0.header["serverData"] = .string(String(repeating: "x", count: 1537))
    },
    Spoiled("4 serverData a number", .badRequest) { $0.header["serverData"] = 5 },
    Spoiled("5 appID of another application", .unacceptableContent) {
      $0.header["appID"] = "https://uaf.example.com/facetz"
    },
    Spoiled("5 appID missing", .unacceptableContent) { $0.header["appID"] = nil },
    Spoiled("5 appID empty", .unacceptableContent) { $0.header["appID"] = "" },
    Spoiled("5 appID too long", .badRequest) {
      $0.header["appID"] = .string(String(repeating: "x", count: 513))
    },
    Spoiled("5 appID a number", .badRequest) { $0.header["appID"] = 1 },
  ]

  private static let challenges: [Spoiled] =
    [
      Spoiled("6 fcParams missing", .badRequest) { $0.message = { $0["fcParams"] = nil } },
      Spoiled("6 fcParams a number", .badRequest) { $0.message = { $0["fcParams"] = 1 } },
      Spoiled("6 fcParams an object", .badRequest) { $0.message = { $0["fcParams"] = [:] } },
      Spoiled("6 fcParams empty", .badRequest) { $0.finalChallengeText = "" },
      Spoiled("6 fcParams no base64url", .badRequest) { $0.finalChallengeText = "{}{}" },
      Spoiled("6 fcParams in the other alphabet", .badRequest) { $0.finalChallengeText = "++//" },
      Spoiled("6 fcParams no JSON", .badRequest) { $0.finalChallengeText = Base64URL.encode([0x7B]) },
      Spoiled("6 fcParams a list", .badRequest) {
        $0.finalChallengeText = Base64URL.encode(Array("[]".utf8))
      },
      Spoiled("6 fcParams with a member twice", .badRequest) {
        let text = $0.params.text.dropLast() + ",\"facetID\":\"x\"}"
        $0.finalChallengeText = Base64URL.encode(Array(text.utf8))
      },
      Spoiled("7 challenge of another request", .requestInvalid) {
        $0.params["challenge"] = .string(Base64URL.encode([UInt8](2...33)))
      },
      Spoiled("7 challenge too short", .badRequest) {
        $0.params["challenge"] = .string(Base64URL.encode([UInt8](1...7)))
      },
      Spoiled("7 challenge too long", .badRequest) {
        $0.params["challenge"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 65)))
      },
      Spoiled("7 appID of another application", .unacceptableContent) {
        $0.params["appID"] = "https://uaf.example.com/facetz"
      },
      Spoiled("7 appID too long", .badRequest) {
        $0.params["appID"] = .string(String(repeating: "x", count: 513))
      },
      Spoiled("9 facetID not trusted", .unacceptableContent) {
        $0.params["facetID"] = "ios:bundle-id:com.example.bank2"
      },
      Spoiled("10 channelBinding a list", .badRequest) { $0.params["channelBinding"] = [] },
      Spoiled("10 channelBinding a string", .badRequest) { $0.params["channelBinding"] = "{}" },
      Spoiled("10 serverEndPoint a number", .badRequest) {
        $0.params["channelBinding"] = ["serverEndPoint": 1]
      },
    ]
    + ["appID", "facetID", "challenge", "channelBinding"].flatMap { name in
      [
        Spoiled("7 \(name) missing", .badRequest) { $0.params[name] = nil },
        Spoiled("7 \(name) empty", .badRequest) { $0.params[name] = "" },
        Spoiled("7 \(name) null", .badRequest) { $0.params[name] = .null },
        Spoiled("7 \(name) a number", .badRequest) { $0.params[name] = 7 },
      ]
    }

  private static let assertions: [Spoiled] = [
    Spoiled("11 assertions missing", .badRequest) { $0.message = { $0["assertions"] = nil } },
    Spoiled("11 assertions empty", .badRequest) { $0.message = { $0["assertions"] = [] } },
    Spoiled("11 assertions an object", .badRequest) { $0.message = { $0["assertions"] = [:] } },
    Spoiled("11 assertions of numbers", .badRequest) { $0.message = { $0["assertions"] = [1] } },
    Spoiled("11 assertionScheme missing", .badRequest) { $0.item = { $0["assertionScheme"] = nil } },
    Spoiled("11 assertionScheme empty", .badRequest) { $0.item = { $0["assertionScheme"] = "" } },
    Spoiled("11 assertionScheme unknown", .unacceptableContent) {
      $0.item = { $0["assertionScheme"] = "UAFV2TLV" }
    },
    Spoiled("11 assertion missing", .badRequest) { $0.item = { $0["assertion"] = nil } },
    Spoiled("11 assertion empty", .badRequest) { $0.item = { $0["assertion"] = "" } },
    Spoiled("11 assertion no base64url", .badRequest) { $0.item = { $0["assertion"] = "AT7$" } },
    Spoiled("11 assertion too long", .badRequest) {
      $0.assertion = { $0 += [UInt8](repeating: 0, count: 4097 - $0.count) }
    },
    Spoiled("11 extension that has to be known", .unacceptableContent) {
      $0.item = { $0["exts"] = [["id": "x", "data": "y", "fail_if_unknown": true]] }
    },
    Spoiled("12 another top tag", .unacceptableContent) { $0.assertion = { $0[0] ^= 0x07 } },
    Spoiled("12 one byte behind", .unacceptableContent) { $0.assertion = { $0.append(0) } },
    Spoiled("12 an element behind", .unacceptableContent) { $0.assertion = { $0 += [0x01, 0x00, 0, 0] } },
    Spoiled("12 cut by one byte", .unacceptableContent) { $0.assertion = { $0.removeLast() } },
    Spoiled("12 cut to a tag", .unacceptableContent) { $0.assertion = { $0.removeLast($0.count - 2) } },
    Spoiled("12 a length beyond the end", .unacceptableContent) { $0.assertion = { $0[6] &+= 200 } },
    Spoiled("15 AAID of no known model", .unknownAAID) {
      $0.elements = { $0.edit(.aaid) { $0 = Array("7357#0002".utf8) } }
    },
    Spoiled("15 AAID without its mark", .unacceptableContent) {
      $0.elements = { $0.edit(.aaid) { $0[4] = UInt8(ascii: "-") } }
    },
    Spoiled("15 AAID with other digits", .unacceptableContent) {
      $0.elements = { $0.edit(.aaid) { $0[0] = UInt8(ascii: "G") } }
    },
    Spoiled("16 mode 0", .unacceptableContent) { $0.elements = { $0.edit(.assertionInfo) { $0[2] = 0 } } },
    Spoiled("16 mode 2", .unacceptableContent) { $0.elements = { $0.edit(.assertionInfo) { $0[2] = 2 } } },
    Spoiled("16 mode 3", .unacceptableContent) { $0.elements = { $0.edit(.assertionInfo) { $0[2] = 3 } } },
    Spoiled("17 another algorithm", .unacceptableAlgorithm) {
      $0.elements = { $0.edit(.assertionInfo) { $0[3] = 2 } }
    },
    Spoiled("17 an algorithm that nobody has", .unacceptableAlgorithm) {
      $0.elements = { $0.edit(.assertionInfo) { $0[4] = 0xFF } }
    },
    Spoiled("18 final challenge hash changed", .unacceptableContent) {
      $0.elements = { $0.edit(.finalChallengeHash) { $0[31] ^= 1 } }
    },
    Spoiled("18 final challenge hash of what fcParams say, written otherwise", .unacceptableContent) {
      let spaced = $0.params.bytes(.pretty)
      $0.message = { $0["fcParams"] = .string(Base64URL.encode(spaced)) }
    },
    Spoiled("19 KeyID of 31 bytes", .unacceptableContent) {
      $0.elements = { $0.edit(.keyID) { $0.removeLast() } }
    },
    Spoiled("25 unknown critical tag, signed", .unacceptableContent) {
      $0.elements = { $0.append(.init(TLVTag(rawValue: 0x2E55), [])) }
    },
    Spoiled("25 unknown critical tag, not signed", .unacceptableContent) {
      $0.parts = { $0.append(.init(TLVTag(rawValue: 0x2E55), [])) }
    },
    Spoiled("25 critical extension, signed", .unacceptableContent) {
      $0.elements = { $0.append(Self.element(of: .criticalExtension)) }
    },
    Spoiled("25 critical extension, not signed", .unacceptableContent) {
      $0.parts = { $0.append(Self.element(of: .criticalExtension)) }
    },
    Spoiled("25 extension without an id", .unacceptableContent) {
      $0.elements = { $0.append(.init(.ignorableExtension, UAFTestKey.encode(.init(.extensionData, [1])))) }
    },
    Spoiled("14 the signed element twice", .unacceptableContent) { $0.parts = { $0.append($0[0]) } },
    Spoiled("13 the signed element missing", .unacceptableContent) { $0.parts = { $0.removeFirst() } },
    Spoiled("13 the signature missing", .unacceptableContent) { $0.parts = { $0.removeLast() } },
  ]

  /// For each tag: missing, empty, one byte longer, one byte shorter, twice.
  static func eachTag(_ tags: [TLVTag], mayBeEmpty: Set<TLVTag> = [], mayGrow: Set<TLVTag> = []) -> [Spoiled]
  {
    tags.flatMap { tag -> [Spoiled] in
      var spoiled = [
        Spoiled("13 \(tag) missing", .unacceptableContent) { $0.elements = { $0.remove(tag) } },
        Spoiled("14 \(tag) twice", .unacceptableContent) { maker in
          maker.elements = { elements in
            if let found = elements.first(where: { $0.tag == tag }) { elements.append(found) }
          }
        },
      ]
      if !mayBeEmpty.contains(tag) {
        spoiled.append(
          Spoiled("13 \(tag) empty", .unacceptableContent) { $0.elements = { $0.edit(tag) { $0 = [] } } })
        spoiled.append(
          Spoiled("13 \(tag) a byte short", .unacceptableContent) {
            $0.elements = { $0.edit(tag) { $0.removeLast() } }
          })
      }
      if !mayGrow.contains(tag) {
        spoiled.append(
          Spoiled("13 \(tag) a byte long", .unacceptableContent) {
            $0.elements = { $0.edit(tag) { $0.append(0) } }
          })
      }
      return spoiled
    }
  }

  static func element(of tag: TLVTag) -> UAFTestKey.Element {
    .init(
      tag,
      UAFTestKey.encode(.init(.extensionID, Array("x".utf8))) + UAFTestKey.encode(.init(.extensionData, [])))
  }
}

@Suite("Rejected registration responses")
struct RegistrationRefusalTests {
  static let spoiled =
    Spoiled.common
    + Spoiled.eachTag(
      [.aaid, .assertionInfo, .finalChallengeHash, .keyID, .counters], mayGrow: [.keyID])
    + [
      Spoiled("13 public key missing", .unacceptableContent) { $0.elements = { $0.remove(.publicKey) } },
      Spoiled("13 public key empty", .unacceptableContent) {
        $0.elements = { $0.edit(.publicKey) { $0 = [] } }
      },
      Spoiled("13 public key a byte short", .unacceptableKey) {
        $0.elements = { $0.edit(.publicKey) { $0.removeLast() } }
      },
      Spoiled("17 another key format", .unacceptableKey) {
        $0.elements = { $0.edit(.assertionInfo) { $0[5] = 0x01 } }
      },
      Spoiled("19 another KeyID than was signed", .unacceptableAttestation) {
        $0.parts = { parts in
          parts[0].content[13 + 11 + 36 + 4] ^= 1
        }
      },
      Spoiled("20 no attestation", .unacceptableContent) { $0.parts = { $0.removeLast() } },
      Spoiled("20 two attestations", .unacceptableContent) { $0.parts = { $0.append($0[1]) } },
      Spoiled("20 full without certificate", .unacceptableContent) {
        $0.parts = { $0[1].tag = .attestationBasicFull }
      },
      Spoiled("20 ECDAA", .unacceptableAttestation) { $0.parts = { $0[1].tag = .attestationECDAA } },
      Spoiled("22 a bit of the signature", .unacceptableAttestation) {
        $0.parts = { $0[1].content[40] ^= 1 }
      },
      Spoiled("22 a signature too short", .unacceptableAttestation) {
        $0.parts = { $0[1].content = UAFTestKey.encode(.init(.signature, [1, 2, 3])) }
      },
      Spoiled("22 an empty signature", .unacceptableContent) {
        $0.parts = { $0[1].content = UAFTestKey.encode(.init(.signature, [])) }
      },
      Spoiled("23 not on the curve", .unacceptableKey) {
        $0.elements = { $0.edit(.publicKey) { $0[64] ^= 1 } }
      },
      Spoiled("23 the point at infinity", .unacceptableKey) {
        $0.elements = { $0.edit(.publicKey) { $0 = [0] } }
      },
      Spoiled("23 another key", .unacceptableAttestation) {
        let other = UAFTestKey().encodedKey
        $0.elements = { $0.edit(.publicKey) { $0 = other } }
      },
    ]

  @Test("control: the unchanged message is accepted") func good() throws {
    let maker = MessageMaker(.registration)
    let verified = try maker.registrationExpectation().verify(maker.registration())
    #expect(verified.facetID == MessageMaker.facetID && verified.appID == MessageMaker.appID)
    #expect(verified.keys.map(\.reference) == [maker.key.reference] && verified.refused.isEmpty)
    let key = try #require(verified.keys.first)
    #expect(key.attestation == .basicSurrogate && key.signCounter == 1 && key.registrationCounter == 1)
    #expect(key.encodedKey == maker.key.encodedKey && !key.isOutdated)
  }

  @Test("each changed message is refused with its status", arguments: spoiled)
  func refused(_ spoiled: Spoiled) throws {
    var maker = MessageMaker(.registration)
    spoiled.edit(&maker)
    let refusal = #expect(throws: UAFRefusal.self) {
      _ = try maker.registrationExpectation().verify(maker.registration())
    }
    #expect(refusal?.status == spoiled.status, "\(refusal?.description ?? "")")
    #expect(refusal?.description.isEmpty == false)
  }

  @Test(
    "1 malformed message lists",
    arguments: [
      "", "null", "{}", "[]", "[1]", "[null]", "[[]]", "[{}]", "[", "\u{FEFF}[]",
      "[{\"header\":{},\"header\":{}}]",
    ])
  func noMessage(text: String) throws {
    let maker = MessageMaker(.registration)
    let refusal = #expect(throws: UAFRefusal.self) {
      _ = try maker.registrationExpectation().verify(Array(text.utf8))
    }
    #expect(refusal?.status == .badRequest)
  }

  @Test("two messages of one version, and a message among others") func versions() throws {
    let maker = MessageMaker(.registration)
    let one = String(decoding: try maker.registration().dropFirst().dropLast(), as: UTF8.self)
    #expect(throws: UAFRefusal.message(.repeatedVersion(.v1_1))) {
      _ = try maker.registrationExpectation().verify(Array("[\(one),\(one)]".utf8))
    }
    let other = #"{"header":{"upv":{"major":2,"minor":0}},"unknown":[]}"#
    _ = try maker.registrationExpectation().verify(Array("[\(other),\(one)]".utf8))
  }

  @Test("19 a key that is registered, or twice in one message") func known() throws {
    var maker = MessageMaker(.registration)
    var expectation = try maker.registrationExpectation()
    expectation.registered = [maker.key.reference]
    let refusal = #expect(throws: UAFRefusal.self) { _ = try expectation.verify(maker.registration()) }
    #expect(refusal == .assertions([RefusedAssertion(key: maker.key.reference, reason: .keyExists)]))
    expectation.registered = []
    maker.message = { message in
      guard case .array(let list) = message["assertions"] else { return }
      message["assertions"] = .array(list + list)
    }
    let verified = try expectation.verify(maker.registration())
    #expect(verified.keys.count == 1 && verified.refused.map(\.reason) == [.repeatedKey])
  }

  @Test("15 a model that the policy does not accept or disallows") func policy() throws {
    let maker = MessageMaker(.registration)
    var expectation = try maker.registrationExpectation()
    expectation.policy.accepted = [[MatchCriteria(aaids: [AAID(vendor: 1, model: 1)])]]
    #expect(throws: refusal(.notInPolicy(maker.key.aaid), maker)) {
      _ = try expectation.verify(maker.registration())
    }
    expectation = try maker.registrationExpectation()
    expectation.policy.disallowed = [MatchCriteria(aaids: [maker.key.aaid])]
    #expect(throws: refusal(.notInPolicy(maker.key.aaid), maker)) {
      _ = try expectation.verify(maker.registration())
    }
    #expect(refusal(.notInPolicy(maker.key.aaid), maker).status == .unacceptableAuthenticator)
    // Two authenticators are needed, and there is one.
    expectation = try maker.registrationExpectation()
    let criterion = MatchCriteria(aaids: [maker.key.aaid])
    expectation.policy.accepted = [[criterion, criterion]]
    #expect(throws: UAFRefusal.policy) { _ = try expectation.verify(maker.registration()) }
  }

  @Test("20 and 21: certificates") func certificates() throws {
    let now: Int64 = 1_800_000_000
    let authority = try UAFTestAuthority(at: now)
    let root = try authority.root
    var maker = MessageMaker(.registration)
    maker.key.attester = try authority.attester(at: now)
    let expectation = try maker.registrationExpectation(roots: [root], unixTime: now)
    #expect(try expectation.verify(maker.registration()).keys.first?.attestation == .basicFull)

    func reason(_ maker: MessageMaker, roots: [[UInt8]], unixTime: Int64 = now) throws -> AssertionRefusal? {
      let refusal = #expect(throws: UAFRefusal.self) {
        _ = try maker.registrationExpectation(roots: roots, unixTime: unixTime).verify(maker.registration())
      }
      guard case .assertions(let refused) = refusal else { return nil }
      #expect(refusal?.status == refused.first?.reason.status)
      return refused.first?.reason
    }
    // The model allows only self attestation, or only certificates.
    #expect(try reason(maker, roots: []) == .attestationType(.basicFull))
    #expect(try reason(MessageMaker(.registration), roots: [root]) == .attestationType(.basicSurrogate))
    // Expired, not yet valid, of another authority.
    let expired = try reason(maker, roots: [root], unixTime: now + 400 * 86_400)
    guard case .certificate(.path) = expired else { return #expect(expired == nil) }
    let early = try reason(maker, roots: [root], unixTime: now - 86_400)
    guard case .certificate(.path) = early else { return #expect(early == nil) }
    let foreign = try reason(maker, roots: [try UAFTestAuthority(at: now).root])
    guard case .certificate(.path) = foreign else { return #expect(foreign == nil) }
    // No certificate, an empty one, one with a trailing byte, and too many.
    guard case .certified(let key, let chain) = maker.key.attester else {
      Issue.record("another case")
      return
    }
    for bad in [
      [[0x30]], [chain[0] + [0]], [Array(chain[0].dropLast())], Array(repeating: [0x30], count: 9),
    ] {
      maker.key.attester = .certified(key, bad)
      #expect(try reason(maker, roots: [root]) == .certificate(.malformed))
    }
    maker.key.attester = .certified(key, [[]])
    #expect(try reason(maker, roots: [root]) == .malformed(.length(.attestationCertificate, 0)))
    // A key other than the certificate's.
    maker.key.attester = .certified(P256.Signing.PrivateKey(), chain)
    #expect(try reason(maker, roots: [root]) == .attestationSignature)
    // The certificate itself may be trusted, and an irrelevant one may follow.
    maker.key.attester = .certified(key, chain)
    _ = try maker.registrationExpectation(roots: chain, unixTime: now).verify(maker.registration())
    maker.key.attester = .certified(key, chain + [root])
    _ = try maker.registrationExpectation(roots: [root], unixTime: now).verify(maker.registration())
  }

  @Test("similar texts differ: the Kelvin sign is not a K") func lookalikes() throws {
    var expectation = try MessageMaker(.registration).registrationExpectation()
    expectation.context.header = OperationHeader(operation: .registration, appID: "K", serverData: "K")
    expectation.context.trustedFacets = ["K"]
    let kelvin: JSONValue = "\u{212A}"
    func maker(_ edit: (inout MessageMaker) -> Void) throws -> [UInt8] {
      var maker = MessageMaker(.registration)
      maker.header["appID"] = "K"
      maker.header["serverData"] = "K"
      maker.params["appID"] = "K"
      maker.params["facetID"] = "K"
      edit(&maker)
      return try maker.registration()
    }
    #expect(throws: UAFRefusal.serverData) {
      _ = try expectation.verify(try maker { $0.header["serverData"] = kelvin })
    }
    #expect(throws: UAFRefusal.appID) {
      _ = try expectation.verify(try maker { $0.header["appID"] = kelvin })
    }
    #expect(throws: UAFRefusal.appID) {
      _ = try expectation.verify(try maker { $0.params["appID"] = kelvin })
    }
    #expect(throws: UAFRefusal.facetID) {
      _ = try expectation.verify(try maker { $0.params["facetID"] = kelvin })
    }
  }

  @Test("the policy's preferred attestation") func preference() throws {
    let now: Int64 = 1_800_000_000
    let authority = try UAFTestAuthority(at: now)
    var maker = MessageMaker(.registration)
    maker.key.attester = try authority.attester(at: now)
    var statement = maker.key.statement(roots: [try authority.root])
    statement.attestationTypes = [.basicFull, .ecdaa]
    var expectation = try maker.registrationExpectation(unixTime: now)
    expectation.context.models = AuthenticatorModels([try AuthenticatorModel(statement)])
    var criterion = MatchCriteria()
    criterion.attestationTypes = [.ecdaa, .basicFull]
    expectation.policy.accepted = [[criterion]]
    #expect(throws: refusal(.attestationPreference(.basicFull), maker)) {
      _ = try expectation.verify(maker.registration())
    }
    criterion.attestationTypes = [.basicSurrogate, .basicFull]
    expectation.policy.accepted = [[criterion]]
    _ = try expectation.verify(maker.registration())
  }

  private func refusal(_ reason: AssertionRefusal, _ maker: MessageMaker) -> UAFRefusal {
    .assertions([RefusedAssertion(key: maker.key.reference, reason: reason)])
  }
}

@Suite("Rejected authentication responses")
struct AuthenticationRefusalTests {
  static let spoiled =
    Spoiled.common.map { spoiled in
      // The key is looked up before the other checks, and its model differs then.
      spoiled.name.hasPrefix("15 AAID of no known")
        ? Spoiled(spoiled.name, .unknownAAID, spoiled.edit) : spoiled
    }
    + Spoiled.eachTag(
      [
        .aaid, .assertionInfo, .authenticatorNonce, .finalChallengeHash, .transactionContentHash, .keyID,
        .counters,
      ], mayBeEmpty: [.transactionContentHash], mayGrow: [.keyID, .authenticatorNonce])
    + [
      Spoiled("22 a bit of the signature", .unacceptableContent) { $0.parts = { $0[1].content[40] ^= 1 } },
      Spoiled("22 a signature of zeros", .unacceptableContent) {
        $0.parts = { $0[1].content = [UInt8](repeating: 0, count: 64) }
      },
      Spoiled("22 a signature of 63 bytes", .unacceptableContent) {
        $0.parts = { $0[1].content.removeLast() }
      },
      Spoiled("22 no byte of a signature", .unacceptableContent) { $0.parts = { $0[1].content = [] } },
      Spoiled("23 signed by another key", .unacceptableContent) {
        $0.parts = { [key = $0.key] parts in
          let bytes = UAFTestKey.encode(parts[0])
          let signature = accepted { () throws(CryptoFailure) in
            try key.sign(bytes, P256.Signing.PrivateKey())
          }
          parts[1].content = signature ?? []
        }
      },
      Spoiled("24 KeyID not registered", .unknownKeyID) { $0.elements = { $0.edit(.keyID) { $0[0] ^= 1 } } },
      Spoiled("24 counter 0 after another", .unacceptableContent) {
        $0.elements = { $0.edit(.counters) { $0[0] = 0 } }
      },
      Spoiled("24 nonce of 7 bytes", .unacceptableContent) {
        $0.elements = { $0.edit(.authenticatorNonce) { $0 = [UInt8](1...7) } }
      },
      Spoiled("24 transaction hash in mode 1", .unacceptableContent) {
        $0.elements = { $0.edit(.transactionContentHash) { $0 = [UInt8](repeating: 1, count: 32) } }
      },
      Spoiled("24 transaction hash in mode 2 without transaction", .unacceptableContent) {
        $0.transactionHash = [UInt8](repeating: 1, count: 32)
      },
    ]

  private static func accepted(_ make: () throws(CryptoFailure) -> [UInt8]) -> [UInt8]? {
    do throws(CryptoFailure) { return try make() } catch { return nil }
  }

  /// An expectation with the server's stored counter: 0 for the valid message, 1 for the spoiled ones.
  private func expectation(_ maker: MessageMaker, stored: UInt32? = 0) throws -> AuthenticationExpectation {
    var expectation = try maker.authenticationExpectation()
    expectation.keys[maker.key.reference] = try maker.key.registered(signCounter: stored)
    return expectation
  }

  @Test("control: the unchanged message is accepted") func good() throws {
    let maker = MessageMaker(.authentication)
    let verified = try maker.authenticationExpectation().verify(maker.authentication())
    #expect(verified.facetID == MessageMaker.facetID && verified.refused.isEmpty)
    #expect(verified.uses.map(\.reference) == [maker.key.reference])
    #expect(verified.uses.map(\.signCounter) == [1] && verified.uses.first?.transaction == nil)
  }

  @Test("each changed message is refused with its status", arguments: spoiled)
  func refused(_ spoiled: Spoiled) throws {
    var maker = MessageMaker(.authentication)
    spoiled.edit(&maker)
    let stored: UInt32 = spoiled.name.contains("counter 0") ? 1 : 0
    let refusal = #expect(throws: UAFRefusal.self) {
      _ = try expectation(maker, stored: stored).verify(maker.authentication())
    }
    #expect(refusal?.status == spoiled.status, "\(refusal?.description ?? "")")
  }

  @Test("a counter to be checked by the storage is returned, not compared", arguments: [0, 1, UInt32.max])
  func countersJudgedElsewhere(received: UInt32) throws {
    var maker = MessageMaker(.authentication)
    maker.key.signCounter = received
    let verified = try expectation(maker, stored: nil).verify(maker.authentication())
    #expect(verified.uses.map(\.signCounter) == [received] && verified.refused.isEmpty)
  }

  @Test(
    "24 counters: 0 after 0, and greater",
    arguments: [(0, 0, true), (0, 1, true), (5, 6, true), (5, 5, false), (5, 4, false), (5, 0, false)]
      as [(UInt32, UInt32, Bool)])
  func counters(stored: UInt32, received: UInt32, isValid: Bool) throws {
    var maker = MessageMaker(.authentication)
    maker.key.signCounter = received
    let expectation = try expectation(maker, stored: stored)
    if isValid {
      #expect(try expectation.verify(maker.authentication()).uses.map(\.signCounter) == [received])
      return
    }
    let refused = RefusedAssertion(
      key: maker.key.reference, reason: .counter(stored: stored, received: received))
    #expect(throws: UAFRefusal.assertions([refused])) { _ = try expectation.verify(maker.authentication()) }
  }

  @Test("24 transactions") func transactions() throws {
    let pay = try #require(UAFTransaction(contentType: .text, content: Array("Pay 5 EUR".utf8)))
    let more = try #require(UAFTransaction(contentType: .text, content: Array("Pay 6 EUR".utf8)))
    var maker = MessageMaker(.authentication)
    maker.transactionHash = more.hash
    let expectation = try maker.authenticationExpectation([pay, more])
    #expect(try expectation.verify(maker.authentication()).uses.first?.transaction == more)
    func reason(_ maker: MessageMaker, _ list: [UAFTransaction]) throws -> AssertionRefusal? {
      let refusal = #expect(throws: UAFRefusal.self) {
        _ = try maker.authenticationExpectation(list).verify(maker.authentication())
      }
      guard case .assertions(let refused) = refusal else { return nil }
      return refused.first?.reason
    }
    #expect(try reason(maker, [pay]) == .transactionHash)
    #expect(try reason(maker, []) == .transactionHashUnexpected)
    maker.elements = { $0.edit(.transactionContentHash) { $0 = [] } }
    #expect(try reason(maker, [pay]) == .transactionHashMissing)
    #expect(try reason(MessageMaker(.authentication), [pay]) == .transactionNotConfirmed)
  }

  @Test("24 a key of another user, and another algorithm than that of the registration") func keys() throws {
    let maker = MessageMaker(.authentication)
    var expectation = try maker.authenticationExpectation()
    expectation.keys = [:]
    let unknown = RefusedAssertion(key: maker.key.reference, reason: .unknownKey)
    let refusal = #expect(throws: UAFRefusal.self) { _ = try expectation.verify(maker.authentication()) }
    #expect(refusal == .assertions([unknown]) && refusal?.status == .unknownKeyID)
    expectation.policy.accepted = [[MatchCriteria(aaids: [maker.key.aaid], keyIDs: [.random()])]]
    expectation.keys = [maker.key.reference: try maker.key.registered()]
    let other = RefusedAssertion(key: maker.key.reference, reason: .notInPolicy(maker.key.aaid))
    #expect(throws: UAFRefusal.assertions([other])) { _ = try expectation.verify(maker.authentication()) }
  }

  @Test("10 the channel") func channel() throws {
    let own = UAFChannelBinding(serverEndPoint: "AAAA", tlsServerCertificate: "BBBB")
    var maker = MessageMaker(.authentication)
    func verify(_ rule: ChannelBindingRule) throws {
      var expectation = try maker.authenticationExpectation()
      expectation.context.channelBinding = rule
      _ = try expectation.verify(maker.authentication())
    }
    try verify(.whenPresent(own))
    #expect(throws: UAFRefusal.channelBinding) { try verify(.required(own)) }
    maker.params["channelBinding"] = [
      "serverEndPoint": "AAAA", "tlsServerCertificate": "", "cid_pubkey": "unused",
    ]
    try verify(.whenPresent(own))
    try verify(.required(own))
    maker.params["channelBinding"] = ["serverEndPoint": "AAAA", "tlsServerCertificate": "BBBA"]
    #expect(throws: UAFRefusal.channelBinding) { try verify(.whenPresent(own)) }
    #expect(throws: UAFRefusal.channelBinding) { try verify(.required(own)) }
    #expect(UAFRefusal.channelBinding.status == .channelBindingRefused)
    try verify(.notChecked)
    maker.params["channelBinding"] = ["serverEndPoint": "", "tlsServerCertificate": .null, "tlsUnique": ""]
    try verify(.whenPresent(own))
    #expect(throws: UAFRefusal.channelBinding) { try verify(.required(own)) }
    maker.params["channelBinding"] = ["tlsUnique": "AAAA"]
    #expect(throws: UAFRefusal.channelBinding) { try verify(.whenPresent(own)) }
  }
}
