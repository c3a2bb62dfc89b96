import SignetServerTesting
import SignetStorage
import Testing

/// Changes of the state of UAF keys, and the keys that count as registered.
@Suite struct UAFKeyStateRulesTests {
  @Test("a key leaves quarantine, and is revoked once", arguments: UAFCredentialRecord.State.allCases)
  func states(_ state: UAFCredentialRecord.State) {
    let key = UAFCredentialRecord.rule(counter: 5, state)
    #expect(key.released == (state == .quarantined ? UAFCredentialRecord.rule(counter: 5) : nil))
    let isRevocable = state == .active || state == .quarantined
    #expect(key.revoked == (isRevocable ? UAFCredentialRecord.rule(counter: 5, .revoked) : nil))
    #expect(key.isInUse(by: "alice") == (state == .active))
    #expect(!key.isInUse(by: "bob"))
  }

  @Test("new keys have unique names and public keys, up to the user's limit")
  func registrations() {
    func refusal(_ keys: [UInt8], isTaken: Bool = false, beside present: Int = 0) -> UAFOutcome? {
      let new = keys.map { NewUAFCredential(UAFCredentialRecord.rule($0), digest: PublicKeyDigest(of: [$0])) }
      return UAFRegistrationRule.refusal(of: new, isTaken: isTaken, beside: present, limit: 4)
    }
    #expect(refusal([1]) == nil)
    #expect(refusal([1], isTaken: true) == .keyExists)
    #expect(refusal([1, 1]) == .keyExists)
    #expect(refusal([1, 1], beside: 4) == .keyExists)
    #expect(refusal([1, 2], beside: 2) == nil)
    #expect(refusal([1, 2], beside: 3) == .tooMany)
    #expect(refusal([1], beside: 3) == nil)
    #expect(refusal([1], beside: 4) == .tooMany)
    #expect(refusal([1], beside: 5) == .tooMany)
  }
}
