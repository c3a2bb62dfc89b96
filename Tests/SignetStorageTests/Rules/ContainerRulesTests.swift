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

  /// A finish message after failed attempts, and its outcome.
  struct Finish: Sendable {
    var time: Int64 = 99
    var failed = 0
    var isProved = true
    var isKeyTaken = false
    let outcome: ActivationOutcome
  }

  @Test(
    "the outcome of a finish message depends on proof, keys, time and failed attempts",
    arguments: [
      Finish(outcome: .staged), Finish(failed: 4, outcome: .staged),
      Finish(isKeyTaken: true, outcome: .keyTaken),
      Finish(isProved: false, outcome: .wrongProof(remaining: 4)),
      Finish(failed: 3, isProved: false, outcome: .wrongProof(remaining: 1)),
      Finish(failed: 4, isProved: false, isKeyTaken: true, outcome: .wrongProof(remaining: 0)),
      // Closed, with a right or a wrong proof.
      Finish(failed: 5, outcome: .closed), Finish(failed: 5, isProved: false, outcome: .closed),
      Finish(failed: 6, outcome: .closed), Finish(time: 100, outcome: .closed),
      Finish(time: 100, isProved: false, outcome: .closed),
      Finish(time: 101, isKeyTaken: true, outcome: .closed),
      // No MAC covers the count.
      Finish(failed: .min, isProved: false, outcome: .wrongProof(remaining: 4)),
    ])
  func finish(_ message: Finish) {
    let found = Self.activation(failed: message.failed).outcome(
      isProved: message.isProved, isKeyTaken: message.isKeyTaken, limit: 5, at: message.time)
    #expect(found == message.outcome)
  }

  @Test("each wrong proof is logged; entries for repeatable outcomes are limited")
  func entriesOfFinish() {
    #expect(ActivationOutcome.wrongProof(remaining: 1).entry(of: "a") == .always)
    for outcome in [ActivationOutcome.staged, .keyTaken, .closed] {
      #expect(outcome.entry(of: "a") == .limited(.activation("a")), "\(outcome)")
    }
  }

  // MARK: Confirmation

  @Test(
    "a pending container is activated by its activation or by the container that it renews",
    arguments: [
      (.rule("c", .pending), .activation("a")), (.rule("c", .pending, renews: "b"), .renewal(of: "b")),
      (.rule("c", .active), .settled(.alreadyActive)),
      (.rule("c", .active, renews: "b"), .settled(.alreadyActive)),
      (.rule("c", .revoked), .settled(.gone)), (.rule("c", .altered, renews: "b"), .settled(.gone)),
    ] as [(ContainerRecord, ContainerConfirmation)])
  func confirmation(_ container: ContainerRecord, _ confirmation: ContainerConfirmation) {
    #expect(ContainerConfirmation(of: container) == confirmation)
  }

  @Test("a repeated confirmation is not logged; entries for late ones are limited")
  func entriesOfConfirmation() {
    #expect(ConfirmationOutcome.activated.entry(of: "c") == .always)
    #expect(ConfirmationOutcome.alreadyActive.entry(of: "c") == nil)
    #expect(ConfirmationOutcome.gone.entry(of: "c") == .limited(.container("c")))
  }

  // MARK: Renewal

  /// A renewal after wrong codes and signatures, and its outcome.
  struct Renewal: Sendable {
    var container: ContainerRecord? = .rule()
    var codes: Int64 = 0
    var signatures: Int64 = 0
    var isProved = true
    var isKeyTaken = false
    let outcome: RenewalOutcome
  }

  @Test(
    "a renewal is refused at the limit of wrong codes or signatures despite a valid proof",
    arguments: [
      Renewal(outcome: .staged), Renewal(codes: 4, signatures: 4, outcome: .staged),
      Renewal(codes: 4, signatures: 4, isKeyTaken: true, outcome: .keyTaken),
      Renewal(codes: 4, signatures: 4, isProved: false, outcome: .notSigned),
      Renewal(codes: 5, outcome: .locked), Renewal(codes: 5, isProved: false, outcome: .locked),
      Renewal(signatures: 5, outcome: .locked),
      Renewal(signatures: 5, isProved: false, isKeyTaken: true, outcome: .locked),
      Renewal(codes: 6, signatures: 6, outcome: .locked), Renewal(container: nil, outcome: .gone),
      Renewal(container: .rule("c", .pending), outcome: .gone),
      Renewal(container: .rule("c", .revoked), signatures: 5, isProved: false, outcome: .gone),
      Renewal(container: .rule("c", .pending), codes: 5, outcome: .locked),
    ])
  func renewal(_ renewal: Renewal) {
    let found = RenewalOutcome(
      of: renewal.container, failed: (codes: renewal.codes, signatures: renewal.signatures),
      isProved: renewal.isProved, isKeyTaken: renewal.isKeyTaken, limit: 5)
    #expect(found == renewal.outcome)
  }

  @Test("the first successor is logged; entries for its replacements are limited")
  func entriesOfRenewal() {
    #expect(RenewalOutcome.staged.entry(of: "c", isReplacing: false) == .always)
    #expect(RenewalOutcome.staged.entry(of: "c", isReplacing: true) == .limited(.container("c")))
    for outcome in [RenewalOutcome.notSigned, .keyTaken, .locked, .gone] {
      #expect(outcome.entry(of: "c", isReplacing: false) == .limited(.container("c")), "\(outcome)")
    }
  }

  /// A signature after wrong ones, the new count, and the refusal; `nil` for a count that stays, and for no refusal.
  struct Signature: Sendable {
    let before: Int64
    let isValid: Bool
    var failed: Int64?
    var refusal: DecisionOutcome?
  }

  @Test(
    "a valid signature resets the failures; at the limit every signature is refused",
    arguments: [
      Signature(before: 0, isValid: true), Signature(before: 1, isValid: true, failed: 0),
      Signature(before: 4, isValid: true, failed: 0),
      Signature(before: 0, isValid: false, failed: 1, refusal: .notSigned),
      Signature(before: 4, isValid: false, failed: 5, refusal: .notSigned),
      Signature(before: 5, isValid: true, refusal: .locked),
      Signature(before: 5, isValid: false, refusal: .locked),
      Signature(before: .max, isValid: false, refusal: .locked),
    ])
  func signatures(_ signature: Signature) {
    let count = SignatureCount(after: signature.before, isValid: signature.isValid, limit: 5)
    #expect(count.failed == signature.failed)
    #expect(count.refusal == signature.refusal)
  }

  // MARK: Ends

  @Test("an end reported by the device is recorded once")
  func toldEnd() throws {
    let end = try #require(ContainerEnd(of: .rule(), as: "removed", AccountStateRecord(), []))
    #expect((end.container.state, end.container.ended) == (.revoked, "removed"))
    #expect((end.concernsDevice, end.revokesDevice, end.lock) == (true, false, nil))
    #expect(ContainerEnd(of: end.container, as: "wiped", AccountStateRecord(), []) == nil)
  }

  @Test("a wipe revokes the device's other credentials if the container was active")
  func wipe() throws {
    for state in ContainerRecord.State.allCases {
      let end = try #require(
        ContainerEnd(of: .rule("c", state), as: ContainerEnd.wiped, AccountStateRecord(), []))
      #expect((end.concernsDevice, end.revokesDevice) == (state == .active, state == .active), "\(state)")
    }
  }

  @Test(
    "a lock stays on the device unless it reports a wipe that an operator ordered",
    arguments: [
      ("wiped", [], true), ("wiped", [.rule(.lock)], true), ("wiped", [.rule(.wipe, altered: true)], true),
      ("wiped", [.rule(.wipe)], false), ("wiped", [.rule(.lock), .rule(.wipe, done: true)], false),
      ("removed", [], true), ("removed", [.rule(.wipe)], true),
    ] as [(String, [DeviceCommandRecord], Bool)])
  func staysLocked(_ ended: String, _ orders: [DeviceCommandRecord], _ stays: Bool) {
    let state = AccountStateRecord.rule(orderedLock: true)
    let locked = ContainerEnd(of: .rule("c", compliance: .locked), as: ended, state, orders)
    #expect(locked?.lock == (stays ? "ordered" : nil))
    for compliance in [ComplianceState.open, .stepUp] {
      #expect(ContainerEnd(of: .rule("c", compliance: compliance), as: ended, state, orders)?.lock == nil)
    }
  }

  @Test(
    "an operator's revocation revokes the device's other credentials unless another container is active there"
  )
  func revocation() throws {
    let container = ContainerRecord.rule("c")
    let alone = try #require(ContainerEnd(revoking: container, among: [container, .rule("x", device: 2)]))
    #expect((alone.container.state, alone.container.ended) == (.revoked, nil))
    #expect((alone.concernsDevice, alone.revokesDevice, alone.lock) == (true, true, nil))
    for (other, isReplaced) in [(ContainerRecord.rule("x"), true), (.rule("x", .altered), false)] {
      let end = try #require(ContainerEnd(revoking: container, among: [container, other]))
      #expect(end.revokesDevice == !isReplaced, "\(other.state)")
    }
  }

  @Test(
    "a container that was never active revokes nothing else; an ended one is not revoked again",
    arguments: [(.pending, false), (.active, true), (.altered, true), (.revoked, nil)]
      as [(
        ContainerRecord.State, Bool?
      )])
  func revoked(_ state: ContainerRecord.State, _ revokesDevice: Bool?) {
    #expect(ContainerEnd(revoking: .rule("c", state), among: [])?.revokesDevice == revokesDevice)
  }

  // MARK: Compliance state

  @Test("an active container contributes its state to its device, and an altered one locks it")
  func boundCompliance() {
    for compliance in ComplianceState.allCases {
      let bound = ContainerRecord.rule("c", compliance: compliance).boundCompliance
      #expect((bound?.compliance, bound?.altered) == (compliance, nil))
    }
    let altered = ContainerRecord.rule("c", .altered).boundCompliance
    #expect(altered?.compliance == .locked)
    #expect(altered?.altered == .containerAltered(user: "alice", container: "c"))
    #expect(ContainerRecord.rule("c", .pending).boundCompliance == nil)
    #expect(ContainerRecord.rule("c", .revoked).boundCompliance == nil)
  }

  @Test("a locked device disables codes of altered and removed containers, but no token's codes")
  func heldCodes() {
    let codes = CredentialRecord.rule()
    #expect(codes.held(for: nil)?.state == .disabled)
    #expect(codes.held(for: .rule("c", .altered))?.state == .disabled)
    #expect(codes.held(for: .rule("c", compliance: .locked)) == nil)
    #expect(CredentialRecord.rule(serial: "s").held(for: nil) == nil)
    for state in [CredentialRecord.State.pending, .disabled, .altered] {
      #expect(CredentialRecord.rule(state).held(for: nil) == nil, "\(state)")
    }
  }
}
