import SignetServerTesting
import SignetStorage
import Testing

/// The registration of an authenticator app, and the change of its push address.
@Suite struct PushAppRegistrationRulesTests {
  @Test("an app registers once, before the URI expires")
  func registers() {
    for (state, time, isTaken) in [
      (.open, 1199, true), (.open, 1200, false), (.active, 1100, false), (.altered, 1100, false),
    ] as [(PushAuthMechanismRecord.State, Int64, Bool)] {
      let found = PushAuthMechanismRecord.rule(state)
      var registered = found
      (registered.mechanism, registered.sealedDevice, registered.state) = ("app", [5], .active)
      #expect(
        found.registered(named: "app", sealedDevice: [5], at: time) == (isTaken ? registered : nil),
        "\(state) at \(time)")
    }
  }

  @Test("codes of the same URI are valid from the registration on, unless disabled")
  func codes() {
    #expect(CredentialRecord.rule(.pending).registered == CredentialRecord.rule(.active))
    for state in [CredentialRecord.State.active, .disabled] {
      #expect(CredentialRecord.rule(state).registered == nil, "\(state)")
    }
  }

  @Test("a change is accepted once among the last 64")
  func moves() throws {
    func digest(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 32) }
    #expect(PushAuthMechanismRecord.rule(.open).moved(to: [1], by: digest(0)) == nil)
    var mechanism = try #require(PushAuthMechanismRecord.rule().moved(to: [1], by: digest(0)))
    #expect(mechanism.sealedDevice == [1])
    for number in 1...63 {
      mechanism = try #require(mechanism.moved(to: [2], by: digest(UInt8(number))))
    }
    #expect(mechanism.moved(to: [3], by: digest(0)) == nil, "the first of 64")
    #expect(mechanism.moved(to: [3], by: digest(63)) == nil, "the last of 64")
    mechanism = try #require(mechanism.moved(to: [3], by: digest(64)))
    #expect(mechanism.moved(to: [4], by: digest(0)) != nil, "the first of 65")
    #expect(mechanism.moved(to: [4], by: digest(1)) == nil, "the second of 65")
  }

  @Test("only an active app of the user is usable")
  func inUse() {
    #expect(PushAuthMechanismRecord.rule().isInUse(of: "alice"))
    #expect(!PushAuthMechanismRecord.rule().isInUse(of: "bob"))
    for state in [PushAuthMechanismRecord.State.open, .altered] {
      #expect(!PushAuthMechanismRecord.rule(state).isInUse(of: "alice"), "\(state)")
    }
  }
}
