import SignetServerTesting
import SignetStorage
import Testing

/// The standing of authenticators that are bound to an account.
@Suite struct AuthenticatorRulesTests {
  private static let altered = "its row was not written by this server"

  @Test("a locked container is suspended, for the reason of the lock")
  func containers() {
    func standing(_ container: ContainerRecord) -> [String] {
      let (state, reason) = container.standing(lockedBecause: "stolen")
      return [state.rawValue, reason]
    }
    #expect(standing(.rule("c", .pending)) == ["pending", ""])
    #expect(standing(.rule("c")) == ["active", ""])
    #expect(standing(.rule("c", standing: .stepUp)) == ["active", ""])
    #expect(standing(.rule("c", standing: .locked)) == ["suspended", "stolen"])
    #expect(standing(.rule("c", .pending, standing: .locked)) == ["pending", ""])
    #expect(standing(.rule("c", .revoked, standing: .locked)) == ["revoked", ""])
    #expect(standing(.rule("c", .altered, standing: .locked)) == ["altered", Self.altered])
  }

  @Test("a token is suspended at the limit of wrong codes, and while it is out of use")
  func tokens() {
    func standing(_ state: CredentialRecord.State, _ failures: Int) -> [String] {
      var token = CredentialRecord.rule(state, serial: "s")
      token.failures = failures
      let (state, reason) = token.standing(attempts: 5)
      return [state.rawValue, reason]
    }
    let locked = ["suspended", "too many wrong codes; unlock it with 'signet-server user unlock'"]
    for (state, name) in [(CredentialRecord.State.pending, "pending"), (.active, "active")] {
      #expect(standing(state, 4) == [name, ""])
      #expect(standing(state, 5) == locked)
      #expect(standing(state, 6) == locked)
    }
    #expect(standing(.disabled, 4) == ["suspended", "an operator disabled it"])
    #expect(standing(.disabled, 5) == locked)
    #expect(standing(.altered, 5) == ["altered", Self.altered])
  }

  @Test("an app's mechanism is pending until the app has registered")
  func apps() {
    func standing(_ state: PushAuthMechanismRecord.State) -> [String] {
      var mechanism = PushAuthMechanismRecord(
        id: "m", user: "alice", sealedSecret: [], challenge: [], created: 1, expires: 2)
      mechanism.state = state
      return [mechanism.standing.0.rawValue, mechanism.standing.1]
    }
    #expect(standing(.open) == ["pending", ""])
    #expect(standing(.active) == ["active", ""])
    #expect(standing(.altered) == ["altered", Self.altered])
  }
}
