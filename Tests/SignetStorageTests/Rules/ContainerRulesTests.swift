import SignetServerTesting
import SignetStorage
import Testing

/// The activation, the renewal and the end of containers.
@Suite struct ContainerRulesTests {
  // MARK: Activation

  private static func activation(failed: Int = 0) -> ActivationRecord {
    ActivationRecord(
      id: "a", user: "alice", sealedInviteKey: [], salt: [], memoryKiB: 1, passes: 1, lanes: 1, profile: [],
      created: 1, expires: 100, failedAttempts: failed)
  }

  @Test(
    "a finish message ends as proof, keys, time and failed attempts have it",
    arguments: [
      (99, 0, true, false, .staged), (99, 4, true, false, .staged), (99, 0, true, true, .keyTaken),
      (99, 0, false, false, .wrongProof(remaining: 4)), (99, 3, false, false, .wrongProof(remaining: 1)),
      (99, 4, false, true, .wrongProof(remaining: 0)),
      // Closed, with a right or a wrong proof.
      (99, 5, true, false, .closed), (99, 5, false, false, .closed), (99, 6, true, false, .closed),
      (100, 0, true, false, .closed), (100, 0, false, false, .closed), (101, 0, true, true, .closed),
      // No MAC covers the count.
      (99, .min, false, false, .wrongProof(remaining: 4)),
    ] as [(Int64, Int, Bool, Bool, ActivationOutcome)])
  func finish(
    _ time: Int64, _ failed: Int, _ isProved: Bool, _ isKeyTaken: Bool, _ outcome: ActivationOutcome
  ) {
    let found = Self.activation(failed: failed).outcome(
      isProved: isProved, isKeyTaken: isKeyTaken, limit: 5, at: time)
    #expect(found == outcome)
  }

  @Test("wrong proofs are in the log each time, what can be repeated without end no more than so often")
  func entriesOfFinish() {
    #expect(ActivationOutcome.wrongProof(remaining: 1).entry(of: "a") == .always)
    for outcome in [ActivationOutcome.staged, .keyTaken, .closed] {
      #expect(outcome.entry(of: "a") == .limited(.activation("a")), "\(outcome)")
    }
  }

  // MARK: Confirmation

  @Test(
    "a pending container becomes active by its activation, or by the container that it renews",
    arguments: [
      (.rule("c", .pending), .activation("a")), (.rule("c", .pending, renews: "b"), .renewal(of: "b")),
      (.rule("c", .active), .settled(.alreadyActive)),
      (.rule("c", .active, renews: "b"), .settled(.alreadyActive)),
      (.rule("c", .revoked), .settled(.gone)), (.rule("c", .altered, renews: "b"), .settled(.gone)),
    ] as [(ContainerRecord, ContainerConfirmation)])
  func confirmation(_ container: ContainerRecord, _ confirmation: ContainerConfirmation) {
    #expect(ContainerConfirmation(of: container) == confirmation)
  }

  @Test("a repeated confirmation is no event, and a late one no more than so often")
  func entriesOfConfirmation() {
    #expect(ConfirmationOutcome.activated.entry(of: "c") == .always)
    #expect(ConfirmationOutcome.alreadyActive.entry(of: "c") == nil)
    #expect(ConfirmationOutcome.gone.entry(of: "c") == .limited(.container("c")))
  }

  // MARK: Renewal

  @Test(
    "a renewal is refused at the limit of wrong codes or signatures, whatever it proves",
    arguments: [
      (.rule(), 0, 0, true, false, .staged), (.rule(), 4, 4, true, false, .staged),
      (.rule(), 4, 4, true, true, .keyTaken), (.rule(), 4, 4, false, false, .notSigned),
      (.rule(), 5, 0, true, false, .locked), (.rule(), 5, 0, false, false, .locked),
      (.rule(), 0, 5, true, false, .locked), (.rule(), 0, 5, false, true, .locked),
      (.rule(), 6, 6, true, false, .locked),
      (nil, 0, 0, true, false, .gone), (.rule("c", .pending), 0, 0, true, false, .gone),
      (.rule("c", .revoked), 0, 5, false, false, .gone), (.rule("c", .pending), 5, 0, true, false, .locked),
    ] as [(ContainerRecord?, Int64, Int64, Bool, Bool, RenewalOutcome)])
  func renewal(
    _ container: ContainerRecord?, _ codes: Int64, _ signatures: Int64, _ isProved: Bool, _ isKeyTaken: Bool,
    _ outcome: RenewalOutcome
  ) {
    let found = RenewalOutcome(
      of: container, failed: (codes: codes, signatures: signatures), isProved: isProved,
      isKeyTaken: isKeyTaken,
      limit: 5)
    #expect(found == outcome)
  }

  @Test("the first successor is an event, one in the place of another no more than so often")
  func entriesOfRenewal() {
    #expect(RenewalOutcome.staged.entry(of: "c", isReplacing: false) == .always)
    #expect(RenewalOutcome.staged.entry(of: "c", isReplacing: true) == .limited(.container("c")))
    for outcome in [RenewalOutcome.notSigned, .keyTaken, .locked, .gone] {
      #expect(outcome.entry(of: "c", isReplacing: false) == .limited(.container("c")), "\(outcome)")
    }
  }

  @Test(
    "a good signature ends a row of wrong ones; at the limit any is refused",
    arguments: [
      (0, true, nil, nil), (1, true, 0, nil), (4, true, 0, nil),
      (0, false, 1, .notSigned), (4, false, 5, .notSigned),
      (5, true, nil, .locked), (5, false, nil, .locked), (.max, false, nil, .locked),
    ] as [(Int64, Bool, Int64?, DecisionOutcome?)])
  func signatures(_ before: Int64, _ isGood: Bool, _ failed: Int64?, _ refusal: DecisionOutcome?) {
    let count = SignatureCount(after: before, isGood: isGood, limit: 5)
    #expect((count.failed, count.refusal) == (failed, refusal))
  }

  // MARK: Ends

  @Test("the end that a device tells is written once")
  func toldEnd() throws {
    let end = try #require(ContainerEnd(of: .rule(), as: "removed", AccountStateRecord(), []))
    #expect((end.container.state, end.container.ended) == (.revoked, "removed"))
    #expect((end.concernsDevice, end.takesDevice, end.lock) == (true, false, nil))
    #expect(ContainerEnd(of: end.container, as: "wiped", AccountStateRecord(), []) == nil)
  }

  @Test("a wipe takes what else is on the device, if the container was in use")
  func wipe() throws {
    for state in ContainerRecord.State.allCases {
      let end = try #require(
        ContainerEnd(of: .rule("c", state), as: ContainerEnd.wiped, AccountStateRecord(), []))
      #expect((end.concernsDevice, end.takesDevice) == (state == .active, state == .active), "\(state)")
    }
  }

  @Test(
    "a lock stays on the device, unless an operator has ordered the wipe that the device tells",
    arguments: [
      ("wiped", [], true), ("wiped", [.rule(.lock)], true), ("wiped", [.rule(.wipe, altered: true)], true),
      ("wiped", [.rule(.wipe)], false), ("wiped", [.rule(.lock), .rule(.wipe, done: true)], false),
      ("removed", [], true), ("removed", [.rule(.wipe)], true),
    ] as [(String, [DeviceCommandRecord], Bool)])
  func staysLocked(_ ended: String, _ orders: [DeviceCommandRecord], _ stays: Bool) {
    let state = AccountStateRecord.rule(orderedLock: true)
    let locked = ContainerEnd(of: .rule("c", standing: .locked), as: ended, state, orders)
    #expect(locked?.lock == (stays ? "ordered" : nil))
    for standing in [ComplianceState.open, .stepUp] {
      #expect(ContainerEnd(of: .rule("c", standing: standing), as: ended, state, orders)?.lock == nil)
    }
  }

  @Test("an operator's revocation takes what else is on the device, unless another container is in use there")
  func revocation() throws {
    let container = ContainerRecord.rule("c")
    let alone = try #require(ContainerEnd(revoking: container, among: [container, .rule("x", device: 2)]))
    #expect((alone.container.state, alone.container.ended) == (.revoked, nil))
    #expect((alone.concernsDevice, alone.takesDevice, alone.lock) == (true, true, nil))
    for (other, isReplaced) in [(ContainerRecord.rule("x"), true), (.rule("x", .altered), false)] {
      let end = try #require(ContainerEnd(revoking: container, among: [container, other]))
      #expect(end.takesDevice == !isReplaced, "\(other.state)")
    }
  }

  @Test(
    "a container that was never in use takes nothing with it, and one that has ended is not revoked again",
    arguments: [(.pending, false), (.active, true), (.altered, true), (.revoked, nil)]
      as [(
        ContainerRecord.State, Bool?
      )])
  func revoked(_ state: ContainerRecord.State, _ takesDevice: Bool?) {
    #expect(ContainerEnd(revoking: .rule("c", state), among: [])?.takesDevice == takesDevice)
  }

  // MARK: Standing

  @Test("a container in use has a say in how its device stands, and an altered one locks it")
  func boundStanding() {
    for standing in ComplianceState.allCases {
      let bound = ContainerRecord.rule("c", standing: standing).boundStanding
      #expect((bound?.standing, bound?.altered) == (standing, nil))
    }
    let altered = ContainerRecord.rule("c", .altered).boundStanding
    #expect(altered?.standing == .locked)
    #expect(altered?.altered == .containerAltered(user: "alice", container: "c"))
    #expect(ContainerRecord.rule("c", .pending).boundStanding == nil)
    #expect(ContainerRecord.rule("c", .revoked).boundStanding == nil)
  }

  @Test("on a locked device the codes of altered and removed containers are out of use, and no token's")
  func heldCodes() {
    let codes = CredentialRecord.rule()
    #expect(codes.held(for: nil)?.state == .disabled)
    #expect(codes.held(for: .rule("c", .altered))?.state == .disabled)
    #expect(codes.held(for: .rule("c", standing: .locked)) == nil)
    #expect(CredentialRecord.rule(serial: "s").held(for: nil) == nil)
    for state in [CredentialRecord.State.pending, .disabled, .altered] {
      #expect(CredentialRecord.rule(state).held(for: nil) == nil, "\(state)")
    }
  }
}
