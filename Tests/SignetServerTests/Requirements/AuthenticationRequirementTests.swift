import SignetPolicy
import SignetProtocol
import SignetServer
import SignetStorage
import Testing

/// The demands of requirements, and evidence that meets them.
@Suite struct AuthenticationRequirementTests {
  private static func requirement(
    _ change: (inout AuthenticationRequirement) -> Void
  ) -> AuthenticationRequirement {
    var requirement = AuthenticationRequirement()
    change(&requirement)
    return requirement
  }

  private static func evidence(
    _ kind: AuthenticationEvidence.Kind = .uaf, _ change: (inout AuthenticationEvidence) -> Void = { _ in }
  ) -> AuthenticationEvidence {
    var evidence = AuthenticationEvidence(kind)
    change(&evidence)
    return evidence
  }

  @Test("an empty requirement is met by every answer", arguments: AuthenticationEvidence.Kind.allCases)
  func demandsNothing(_ kind: AuthenticationEvidence.Kind) {
    #expect(AuthenticationRequirement().unmet(by: AuthenticationEvidence(kind)).isEmpty)
  }

  @Test("each requirement is met exactly by sufficient evidence")
  func eachDemand() {
    let cases:
      [(
        AuthenticationRequirement, AuthenticationRequirement.Demand, (inout AuthenticationEvidence) -> Void
      )] = [
        (Self.requirement { $0.factors = 2 }, .factors(2), { $0.factors = 2 }),
        (
          Self.requirement { $0.needsUserVerification = true }, .userVerification,
          { $0.isUserVerified = true }
        ),
        (
          Self.requirement { $0.needsPhishingResistance = true }, .phishingResistance,
          { $0.isPhishingResistant = true }
        ),
        (
          Self.requirement { $0.keyProtection = .hardwareClaimed }, .keyProtection(.hardwareClaimed),
          { $0.keyProtection = .hardwareClaimed }
        ),
        (
          Self.requirement { $0.keyProtection = .hardwareAttested }, .keyProtection(.hardwareAttested),
          { $0.keyProtection = .hardwareAttested }
        ),
        (Self.requirement { $0.needsSignedContent = true }, .signedContent, { $0.isContentSigned = true }),
        (
          Self.requirement { $0.longestReportAge = 60 }, .report(longestAge: 60), { $0.reportAge = 60 }
        ),
        (Self.requirement { $0.numberDigits = 4 }, .number(digits: 4), { $0.numberDigits = 4 }),
        (Self.requirement { $0.kinds = [.container] }, .kinds([.container]), { $0.kind = .container }),
      ]
    for (requirement, demand, meet) in cases {
      #expect(requirement.unmet(by: Self.evidence()) == [demand])
      #expect(requirement.unmet(by: Self.evidence(.uaf, meet)).isEmpty, "\(demand)")
    }
  }

  @Test("claimed hardware does not meet attested hardware; attested hardware meets both")
  func protections() {
    let (claimed, attested) = (
      Self.requirement { $0.keyProtection = .hardwareClaimed },
      Self.requirement { $0.keyProtection = .hardwareAttested }
    )
    let claim = Self.evidence { $0.keyProtection = .hardwareClaimed }
    #expect(claimed.unmet(by: claim).isEmpty)
    #expect(attested.unmet(by: claim) == [.keyProtection(.hardwareAttested)])
    let proof = Self.evidence { $0.keyProtection = .hardwareAttested }
    #expect(claimed.unmet(by: proof).isEmpty && attested.unmet(by: proof).isEmpty)
  }

  @Test("a report requirement is met up to the maximum age of the device's report")
  func reports() {
    let requirement = Self.requirement { $0.longestReportAge = 60 }
    for (age, isMet) in [(nil, false), (0, true), (60, true), (61, false), (.max, false)]
      as [(Int64?, Bool)]
    {
      #expect(requirement.unmet(by: Self.evidence(.container) { $0.reportAge = age }).isEmpty == isMet)
    }
  }

  @Test("a report later than the answer is ignored, except within the clock tolerance")
  func reportAges() {
    func age(_ lastReport: Int64?, at time: Int64) -> Int64? {
      Self.evidence(.container).reported(lastReport, at: time).reportAge
    }
    #expect(age(nil, at: 1000) == nil)
    #expect(age(400, at: 1000) == 600 && age(1000, at: 1000) == 0)
    #expect(age(1120, at: 1000) == 0 && age(1121, at: 1000) == nil)
    #expect(age(.min, at: 1000) == nil && age(.max, at: -1000) == nil && age(.max, at: 1000) == nil)
  }

  @Test("all unmet requirements are named, in a fixed order")
  func saysAll() {
    let requirement = Self.requirement {
      ($0.factors, $0.needsUserVerification, $0.needsPhishingResistance) = (2, true, true)
      ($0.keyProtection, $0.needsSignedContent, $0.kinds) = (.hardwareAttested, true, [.uaf, .container])
      $0.longestReportAge = 300
    }
    #expect(
      requirement.unmet(by: Self.evidence(.pushApp)).map(\.description) == [
        "an authenticator of kind container or uaf", "2 factors", "user verification", "phishing resistance",
        "a key in attested hardware", "signed content",
        "a report of the device that is at most 300 s old",
      ])
  }

  @Test("the built-in names have the meaning of OpenID's profile and of this server's tokens")
  func builtIn() throws {
    let names = NamedRequirements()
    let (phr, phrh) = (try #require(names["phr"]), try #require(names["phrh"]))
    #expect(phr == Self.requirement { $0.needsPhishingResistance = true })
    #expect(
      phrh
        == Self.requirement { ($0.needsPhishingResistance, $0.keyProtection) = (true, .hardwareAttested) })
    let (signed, typed) = (Self.evidence(.container) { $0.isContentSigned = true }, Self.evidence(.container))
    let all = ["phr", "urn:signet:acr:uaf", "urn:signet:acr:signed", "urn:signet:acr:answered"]
    #expect(names.first(of: all, metBy: signed) == "urn:signet:acr:signed")
    #expect(names.first(of: all, metBy: typed) == "urn:signet:acr:answered")
    #expect(names.first(of: all, metBy: Self.evidence(.uaf)) == "urn:signet:acr:uaf")
    #expect(names.first(of: ["phr", "gold"], metBy: signed) == nil)
    #expect(
      names.missing(for: ["phrh", "gold"], in: signed)
        == "phrh needs phishing resistance and a key in attested hardware; gold is no longer defined")
  }

  @Test("amr asserts hardware where it is attested, and a key where it is claimed (RFC 8176)")
  func methods() {
    func method(_ kind: AuthenticationEvidence.Kind, _ protection: KeyAssurance, signed: Bool) -> String {
      Self.evidence(kind) { ($0.keyProtection, $0.isContentSigned) = (protection, signed) }.method
    }
    #expect(method(.container, .software, signed: true) == "swk")
    #expect(method(.container, .hardwareClaimed, signed: true) == "pop")
    #expect(method(.container, .hardwareClaimed, signed: false) == "otp")
    #expect(method(.uaf, .hardwareClaimed, signed: false) == "pop")
    #expect(method(.uaf, .hardwareAttested, signed: true) == "hwk")
    #expect(method(.pushApp, .software, signed: false) == "mca")
  }
}
