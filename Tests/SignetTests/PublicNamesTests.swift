import Signet
import Testing

/// The names that an app uses with `import Signet` alone: this file imports no other module of ours.
@Suite struct PublicNamesTests {
  @Test("one-time passwords and challenges")
  func oneTimePasswords() throws {
    let secret = SecretBytes(copying: Array("12345678901234567890".utf8))
    // RFC 4226 appendix D, RFC 6238 appendix B, RFC 6287 appendix C.
    #expect(try HOTP(secret: secret).code(at: 1) == "287082")
    #expect(try TOTP(secret: secret, digits: 8).code(at: 59).code == "94287082")
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
    let response = try OCRA(secret: secret, suite: suite).response(to: OCRAChallenge("11111111", for: suite))
    #expect(response == "243178")
    #expect(throws: OCRAFailure.challengeTooLong(length: 9, limit: 8)) {
      try OCRAChallenge("123456789", for: suite)
    }
  }

  @Test("targets of pushes and versions of HTTP")
  func connections() {
    let targets: [PushTarget] = [.fcm(token: "t"), .apns(token: [1]), .webhook(address: "desk")]
    #expect(targets.map(\.service) == [.fcm, .apns, .webhook])
    let defaults = ConnectionConfiguration()
    #expect(defaults.timeoutSeconds == 30 && defaults.retries == 0 && defaults.pins.isEmpty)
    #expect(defaults.certificateAuthoritiesPEM == nil && defaults.proxy == .none)
    #expect(ConnectionConfiguration(version: HTTPVersion.http2).version == .http2)
    let list: PushTargetList? = nil
    let subscription: WebPushSubscription? = nil
    #expect(list == nil && subscription == nil)
  }

  private struct OfficePolicy: AccountPolicy {
    let name = "atWork"

    func evaluate(
      _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
    ) async throws -> AccountPolicyVerdict {
      try parameters.object().isEmpty ? .compliant : .breached(reason: "far", evidence: ["far": true])
    }
  }

  @Test("account policies of an app")
  func accountPolicies() async throws {
    var registry = AccountPolicyRegistry()
    try registry.register(OfficePolicy())
    let evaluator = AccountPolicyEvaluator(registry: registry, reactions: ["atWork": .lock])
    let policies = AccountPolicies(evaluator: evaluator, appVersion: "1.0", sources: [])
    let set = try AccountPolicySet(["atWork": ["radius": 5]])
    let report: AccountPolicyReport = await policies.evaluator.evaluate(set, AccountEvidence())
    let breaches: [AccountPolicyBreach] = report.breaches
    var lock = AccountLock()
    lock.apply(report, at: 0)
    #expect(breaches.map(\.policy) == ["atWork"] && lock.sources == [AccountLockSource.policy])
  }
}
