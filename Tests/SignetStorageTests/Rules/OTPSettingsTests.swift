import SignetServerTesting
import SignetStorage
import Testing

/// The outcome of an attempt with one-time codes, its log entry, and the state of tokens.
@Suite struct OTPSettingsTests {
  @Test(
    "an attempt of an inactive user finds no credentials",
    arguments: [UserRecord.State.active, .suspended, .deleted])
  func heldUser(_ state: UserRecord.State) {
    let wait = WaitRecord(failures: 1, until: 2, expires: 3)
    let found = OTPSnapshot([.rule()], of: "alice", state, wait: wait)
    #expect(found.credentials == (state == .active ? [.rule()] : []))
    #expect((found.isUserInactive, found.isUserUnknown) == (state != .active, false))
    #expect(found.wait == wait)
  }

  @Test("an unknown user is an error; an unassigned token has no user")
  func unknownUser() {
    let unknown = OTPSnapshot([], of: "mallory", nil, wait: nil)
    #expect((unknown.isUserInactive, unknown.isUserUnknown) == (false, true))
    let token = OTPSnapshot([.rule(serial: "s", user: nil)], of: nil, nil, wait: nil)
    #expect((token.isUserInactive, token.isUserUnknown) == (false, false))
    #expect(token.credentials.count == 1)
  }

  private static let outcomes: [CodeOutcome] = [
    .accepted, .refused, .waiting(seconds: 1), .locked, .keyRevoked,
  ]

  @Test("accepted attempts are always logged, refused ones with a limit", arguments: outcomes)
  func entries(_ outcome: CodeOutcome) {
    var result = OTPResult(outcome, wait: nil, audit: .sample())
    let isAccepted = outcome == .accepted
    #expect(
      result.entry(of: "alice", .active, by: "key")
        == (isAccepted ? .always : .limited(.claimant(user: "alice"))))
    // The number of unknown names has no limit.
    for (user, state) in [("mallory", nil), (nil, nil), (nil, .active)] as [(UserID?, UserRecord.State?)] {
      #expect(
        result.entry(of: user, state, by: "key") == (isAccepted ? .always : .limited(.stranger(key: "key"))))
    }
    result.changed = [.rule()]
    #expect(result.entry(of: "mallory", nil, by: nil) == .always)
  }

  @Test("an attempt with a user code is always logged if the code was verified", arguments: outcomes)
  func entriesOfUserCodes(_ outcome: CodeOutcome) {
    let isTried = outcome == .accepted || outcome == .refused
    #expect(
      OTPResult(outcome, wait: nil, audit: .sample()).entry(ofCodeOf: "alice")
        == (isTried ? .always : .limited(.claimant(user: "alice"))))
  }

  @Test(
    "an assigned token must be verified again; a disabled one stays disabled",
    arguments: [
      (CredentialRecord.State.pending, CredentialRecord.State.pending), (.active, .pending),
      (.disabled, .disabled),
    ])
  func assignment(_ before: CredentialRecord.State, _ after: CredentialRecord.State) {
    var token = CredentialRecord.rule(before, serial: "s")
    (token.failures, token.lastCounter, token.lastUsed) = (3, 9, 900)
    for user in ["bob", nil] as [UserID?] {
      let assigned = token.assigned(to: user)
      #expect((assigned.user, assigned.state, assigned.failures, assigned.lastCounter) == (user, after, 0, 9))
      #expect(assigned.lastUsed == nil, "what another has used")
    }
  }

  @Test(
    "a disabled token must be verified again",
    arguments: [
      (CredentialRecord.State.pending, CredentialRecord.State.pending), (.active, .active),
      (.disabled, .pending),
    ])
  func disabling(_ before: CredentialRecord.State, _ enabled: CredentialRecord.State) {
    let token = CredentialRecord.rule(before, serial: "s")
    #expect(token.disabled(true).state == .disabled)
    #expect(token.disabled(false).state == enabled)
  }

  @Test("tokens of a deleted user become unassigned, except altered ones and containers' codes")
  func stock() {
    for state in [CredentialRecord.State.pending, .active, .disabled] {
      #expect(CredentialRecord.rule(state, serial: "s").goesBackToStock, "\(state)")
      #expect(!CredentialRecord.rule(state).goesBackToStock, "\(state)")
    }
    #expect(!CredentialRecord.rule(.altered, serial: "s").goesBackToStock)
  }
}
