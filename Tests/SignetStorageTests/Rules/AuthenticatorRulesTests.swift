import SignetServerTesting
import SignetStorage
import Testing

/// The status of authenticators that are bound to an account.
@Suite struct AuthenticatorRulesTests {
  private static let altered = "its row was not written by this server"

  @Test("a locked container is suspended, for the reason of the lock")
  func containers() {
    func status(_ container: ContainerRecord) -> [String] {
      let (state, reason) = container.status(lockedBecause: "stolen")
      return [state.rawValue, reason]
    }
    #expect(status(.rule("c", .pending)) == ["pending", ""])
    #expect(status(.rule("c")) == ["active", ""])
    #expect(status(.rule("c", compliance: .stepUp)) == ["active", ""])
    #expect(status(.rule("c", compliance: .locked)) == ["suspended", "stolen"])
    #expect(status(.rule("c", .pending, compliance: .locked)) == ["pending", ""])
    #expect(status(.rule("c", .revoked, compliance: .locked)) == ["revoked", ""])
    #expect(status(.rule("c", .altered, compliance: .locked)) == ["altered", Self.altered])
  }

  @Test("a token is suspended at the limit of wrong codes and while it is not in use")
  func tokens() {
    func status(_ state: CredentialRecord.State, _ failures: Int) -> [String] {
      var token = CredentialRecord.rule(state, serial: "s")
      token.failures = failures
      let (state, reason) = token.status(attempts: 5)
      return [state.rawValue, reason]
    }
    let locked = ["suspended", "too many wrong codes; unlock it with 'signet-server user unlock'"]
    for (state, name) in [(CredentialRecord.State.pending, "pending"), (.active, "active")] {
      #expect(status(state, 4) == [name, ""])
      #expect(status(state, 5) == locked)
      #expect(status(state, 6) == locked)
    }
    #expect(status(.disabled, 4) == ["suspended", "an operator disabled it"])
    #expect(status(.disabled, 5) == locked)
    #expect(status(.altered, 5) == ["altered", Self.altered])
  }

  @Test("an app's mechanism is pending until the app has registered")
  func apps() {
    func status(_ state: PushAuthMechanismRecord.State) -> [String] {
      var mechanism = PushAuthMechanismRecord(
        id: "m", user: "alice", sealedSecret: [], challenge: [], created: 1, expires: 2)
      mechanism.state = state
      return [mechanism.status.0.rawValue, mechanism.status.1]
    }
    #expect(status(.open) == ["pending", ""])
    #expect(status(.active) == ["active", ""])
    #expect(status(.altered) == ["altered", Self.altered])
  }
}
