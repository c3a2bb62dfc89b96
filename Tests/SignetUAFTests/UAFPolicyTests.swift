import SignetJSON
import SignetUAF
import Testing
import UAFFixture

@Suite struct UAFPolicyTests {
  private static let traits = AuthenticatorTraits(
    aaid: AAID(vendor: 0xABCD, model: 1), userVerification: [.fingerprint], keyProtection: [.hardware],
    matcherProtection: [.trustedEnvironment], attachmentHint: [.internal], display: [.any],
    algorithms: [.p256DER], attestationTypes: [.basicFull, .basicSurrogate], version: 5)

  private static func criteria(_ text: String) throws -> MatchCriteria {
    let policy =
      #"{"header":{"upv":{"major":1,"minor":1},"op":"Reg"},"challenge":"AAAAAAAAAAA","username":"a","policy":{"accepted":[[\#(text)]]}}"#
    return try RegistrationRequest(JSONObject(parsing: Array(policy.utf8))).policy.accepted[0][0]
  }

  @Test(
    "each criterion member alone",
    arguments: [
      (#"{}"#, true), (#"{"aaid":["abcd#0001"]}"#, true), (#"{"aaid":["ABCD#0002"]}"#, false),
      (#"{"aaid":["ABCD#0002","ABCD#0001"]}"#, true), (#"{"vendorID":["abcd"]}"#, true),
      (#"{"vendorID":["0001"]}"#, false), (#"{"userVerification":6}"#, true),
      (#"{"userVerification":4}"#, false), (#"{"userVerification":1026}"#, false),
      (#"{"keyProtection":10}"#, true), (#"{"keyProtection":1}"#, false), (#"{"matcherProtection":2}"#, true),
      (#"{"matcherProtection":1}"#, false), (#"{"attachmentHint":1}"#, true),
      (#"{"attachmentHint":2}"#, false),
      (#"{"tcDisplay":3}"#, true), (#"{"tcDisplay":2}"#, false),
      (#"{"authenticationAlgorithms":[1,2]}"#, true),
      (#"{"authenticationAlgorithms":[1]}"#, false), (#"{"assertionSchemes":["UAFV1TLV"]}"#, true),
      (#"{"assertionSchemes":["X"]}"#, false), (#"{"attestationTypes":[15880]}"#, true),
      (#"{"attestationTypes":[15881]}"#, false), (#"{"authenticatorVersion":5}"#, true),
      (#"{"authenticatorVersion":6}"#, false),
      (#"{"exts":[{"id":"x","data":"","fail_if_unknown":false}]}"#, true),
      (#"{"exts":[{"id":"x","data":"","fail_if_unknown":true}]}"#, false),
      (#"{"aaid":["ABCD#0001"],"userVerification":4}"#, false),
    ])
  func members(text: String, isMatch: Bool) throws {
    #expect(try Self.criteria(text).matches(Self.traits) == isMatch)
  }

  @Test("a known extension matches") func knownExtension() throws {
    let criterion = try Self.criteria(#"{"exts":[{"id":"x","data":"","fail_if_unknown":true}]}"#)
    #expect(criterion.matches(Self.traits, knownExtensions: ["x"]))
  }

  @Test("two keys of one authenticator are one authenticator") func oneModelTwice() {
    let keys = [KeyID.random(), KeyID.random()]
    let both = keys.map { Policy.Candidate(Self.traits, keyIDs: [$0]) }
    var other = Self.traits
    other.aaid = AAID(vendor: 0xABCD, model: 2)
    let any = MatchCriteria(aaids: [Self.traits.aaid, other.aaid])
    let two = Policy(accepted: [[any, any]])
    #expect(two.firstCombination(of: both) == nil)
    #expect(two.firstCombination(of: [both[0], Policy.Candidate(other)])?.candidates.sorted() == [0, 1])
    // The matching key is found, and a place is left for it.
    let named = MatchCriteria(aaids: [Self.traits.aaid], keyIDs: [keys[1]])
    let found = Policy(accepted: [[any, named]]).firstCombination(of: both + [Policy.Candidate(other)])
    #expect(found?.candidates == [2, 1])
  }

  @Test("keys") func keys() {
    let (one, two) = (KeyID.random(), KeyID.random())
    let criterion = MatchCriteria(aaids: [Self.traits.aaid], keyIDs: [one])
    #expect(criterion.matches(Self.traits, keyIDs: [two, one]) && criterion.matches(Self.traits))
    #expect(!criterion.matches(Self.traits, keyIDs: [two]) && !criterion.matches(Self.traits, keyIDs: []))
  }

  @Test(
    "malformed policies are refused with the member's path",
    arguments: [
      (#"{"aaid":"ABCD#0001"}"#, "policy.accepted[0][0].aaid", MessageFailure.Problem.type(.array)),
      (#"{"aaid":[]}"#, "policy.accepted[0][0].aaid", .empty),
      (#"{"aaid":["ABCD-0001"]}"#, "policy.accepted[0][0].aaid[0]", .form),
      (#"{"vendorID":["ABCDE"]}"#, "policy.accepted[0][0].vendorID[0]", .form),
      (#"{"keyIDs":["AAAA"]}"#, "policy.accepted[0][0].keyIDs[0]", .range),
      (#"{"keyIDs":["$"]}"#, "policy.accepted[0][0].keyIDs[0]", .base64URL),
      (#"{"userVerification":-1}"#, "policy.accepted[0][0].userVerification", .range),
      (#"{"userVerification":"2"}"#, "policy.accepted[0][0].userVerification", .type(.integer)),
      (#"{"keyProtection":65536}"#, "policy.accepted[0][0].keyProtection", .range),
      (#"{"authenticationAlgorithms":[70000]}"#, "policy.accepted[0][0].authenticationAlgorithms[0]", .range),
      (#"{"assertionSchemes":[""]}"#, "policy.accepted[0][0].assertionSchemes[0]", .empty),
      (#"{"tcDisplay":null}"#, "policy.accepted[0][0].tcDisplay", .type(.integer)),
      ("1", "policy.accepted[0][0]", .type(.object)),
    ])
  func malformed(text: String, path: String, problem: MessageFailure.Problem) {
    #expect(throws: MessageFailure.member(path, problem)) { _ = try Self.criteria(text) }
  }

  @Test("a server's policy: models alone, or algorithms and schemes are required") func wellFormed() {
    var criterion = MatchCriteria(aaids: [Self.traits.aaid], keyIDs: [.random()])
    #expect(criterion.isWellFormed)
    criterion.attachmentHint = .internal
    #expect(criterion.isWellFormed)
    criterion.userVerification = .passcode
    #expect(!criterion.isWellFormed)
    var other = MatchCriteria()
    #expect(!other.isWellFormed)
    other.algorithms = [.p256RAW]
    #expect(!other.isWellFormed)
    other.assertionSchemes = ["UAFV1TLV"]
    #expect(other.isWellFormed && Policy(accepted: [[other]]).isWellFormed)
    #expect(!Policy(accepted: [[other]], disallowed: [criterion]).isWellFormed)
    #expect(!Policy(accepted: []).isWellFormed && !Policy(accepted: [[]]).isWellFormed)
  }

  @Test("combinations: all criteria, each by another authenticator, in the server's order")
  func combinations() {
    func candidate(_ model: UInt16, _ verification: UserVerification) -> Policy.Candidate {
      var traits = Self.traits
      traits.aaid = AAID(vendor: 1, model: model)
      traits.userVerification = [verification]
      return Policy.Candidate(traits)
    }
    func criterion(_ verification: UserVerification) -> MatchCriteria {
      var criterion = MatchCriteria()
      criterion.userVerification = verification
      return criterion
    }
    let (finger, code) = (candidate(1, .fingerprint), candidate(2, .passcode))
    let either = criterion([.fingerprint, .passcode])
    // The first criterion takes the finger, and releases it for the second.
    let policy = Policy(accepted: [[either, criterion(.fingerprint)], [either]])
    let found = policy.firstCombination(of: [finger, code])
    #expect(found?.combination == 0 && found?.candidates == [1, 0])
    #expect(policy.firstCombination(of: [finger])?.combination == 1)
    #expect(policy.combinations(of: [finger, code]).map(\.combination) == [0, 1])
    #expect(policy.firstCombination(of: []) == nil)
    #expect(Policy(accepted: [[either, either, either]]).firstCombination(of: [finger, code]) == nil)
    // Disallowed criteria take precedence.
    let strict = Policy(accepted: policy.accepted, disallowed: [criterion(.fingerprint)])
    #expect(strict.firstCombination(of: [finger]) == nil)
    #expect(strict.firstCombination(of: [finger, code])?.candidates == [1])
    #expect(strict.disallows(finger) && !strict.disallows(code))
  }

  @Test("the server's most preferred available attestation is used") func preference() {
    var criterion = MatchCriteria()
    #expect(criterion.preferredAttestation(of: Self.traits) == .basicFull)
    criterion.attestationTypes = [.ecdaa, .basicSurrogate, .basicFull]
    #expect(criterion.preferredAttestation(of: Self.traits) == .basicSurrogate)
    criterion.attestationTypes = [.ecdaa]
    #expect(criterion.preferredAttestation(of: Self.traits) == nil)
  }
}

/// A policy's version means that of the authenticator, not of its metadata.
@Suite struct AuthenticatorVersionTests {
  private func criterion(_ key: UAFTestKey, _ version: UInt16) -> MatchCriteria {
    var criterion = MatchCriteria(aaids: [key.aaid])
    criterion.authenticatorVersion = version
    return criterion
  }

  @Test("an outdated authenticator is refused", arguments: [(255, false), (256, true), (257, true)])
  func registration(_ version: UInt16, _ isTaken: Bool) throws {
    var maker = MessageMaker(.registration)
    var expectation = try maker.registrationExpectation()
    expectation.policy = Policy(accepted: [[criterion(maker.key, 256)]])
    maker.key.authenticatorVersion = version
    if isTaken {
      #expect(try expectation.verify(maker.registration()).keys.first?.authenticatorVersion == version)
    } else {
      let refusal = #expect(throws: UAFRefusal.self) { try expectation.verify(maker.registration()) }
      #expect(refusal?.status == .unacceptableAuthenticator)
    }
  }

  @Test("an outdated authenticator is refused at sign-in too", arguments: [(255, false), (256, true)])
  func authentication(_ version: UInt16, _ isTaken: Bool) throws {
    var maker = MessageMaker(.authentication)
    var expectation = try maker.authenticationExpectation()
    expectation.policy = Policy(accepted: [[criterion(maker.key, 256)]])
    maker.key.authenticatorVersion = version
    if isTaken {
      #expect(try expectation.verify(maker.authentication()).uses.count == 1)
    } else {
      let refusal = #expect(throws: UAFRefusal.self) { try expectation.verify(maker.authentication()) }
      #expect(refusal?.status == .unacceptableAuthenticator)
    }
  }
}
