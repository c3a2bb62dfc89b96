import SignetCrypto
import SignetStorage

extension StorageContract {
  /// A step that accepts something from a user, or binds something to the account.
  private struct GatedStep: Sendable {
    /// The method of ``SignetStorage/Storage``.
    let step: String
    let name: String
    /// Prepares the state before the step, while the user is active.
    let prepare: @Sendable (Storage, _ user: UserID) async throws -> Void
    /// Runs the step; returns true if it accepted.
    let accepts: @Sendable (Storage, _ user: UserID) async throws -> Bool
  }

  /// The steps that accept something only from an active user, by the names of their methods.
  package static let gatedStepNames = Set(gatedSteps.map(\.step))

  /// All steps: add each new step that accepts something from a user.
  private static let gatedSteps: [GatedStep] = [
    GatedStep(step: "attemptCode", name: "a one-time password") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: {
      storage, user in
      try await storage.submit(5, container: "c-\(user)", user: user) == .accepted
    },
    GatedStep(step: "tryUserCode", name: "the code of a user") { storage, user in
      _ = try await storage.setUserCode([1], of: user, audit: event("code"))
    } accepts: { storage, user in
      try await storage.tryUserCode(OTPSubject(user: user, client: [1])) {
        OTPResult(.accepted, wait: $1, audit: event("user code"))
      } == .accepted
    },
    GatedStep(step: "claimRequest", name: "a signed request of a device") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: {
      storage, user in
      try await storage.claimRequest(Array(user.text.utf8), of: "c-\(user)", expires: 5000) != nil
    },
    GatedStep(step: "decideTransaction", name: "a decision") { storage, user in
      try await storage.activate("c-\(user)", user: user)
      try await storage.addOpen("t-\(user)")
    } accepts: { storage, user in
      try await storage.decide("t-\(user)", Sample.decision(by: "c-\(user)")) == .decided
    },
    GatedStep(step: "decideTransaction", name: "a decision about a request of the user's own") {
      storage, user in
      try await storage.activate("c-\(user)", user: user)
      try await storage.addTransaction(
        Sample.transaction("t-\(user)", user: user), audit: event("transaction"))
    } accepts: { storage, user in
      try await storage.decide("t-\(user)", Sample.decision(by: "c-\(user)")) == .decided
    },
    GatedStep(step: "addInitiated", name: "what a device signs unasked") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: {
      storage, user in
      var made = Sample.transaction("t-\(user)", user: user)
      made.isInitiatedByDevice = true
      made.state = .accepted
      made.decision = Sample.decision(by: "c-\(user)")
      return try await storage.addInitiated(made, isSigned: true, limits: Sample.limits) { _ in
        event("initiated")
      } == .decided
    },
    GatedStep(step: "answerTransaction", name: "an answer that was carried") { storage, user in
      try await storage.activate("c-\(user)", user: user)
      try await storage.addTransaction(
        Sample.transaction("t-\(user)", user: user), audit: event("transaction"))
    } accepts: { storage, user in
      let attempt = AnswerAttempt(container: "c-\(user)", time: 1100)
      return try await storage.answerTransaction(
        "t-\(user)", attempt, attempts: 3,
        waits: { _ in (nil, WaitRecord(failures: 1, until: 0, expires: 0)) }
      ) { _ in event("answer") } == .decided
    },
    GatedStep(step: "addActivation", name: "an invite") { _, _ in
    } accepts: { storage, user in
      try await storage.add(Sample.activation("a-\(user)", user: user))
      return true
    },
    GatedStep(step: "finishActivation", name: "the first message of a device") { storage, user in
      try await storage.add(Sample.activation("a-\(user)", user: user))
    } accepts: { storage, user in
      try await storage.finish(
        "a-\(user)", Sample.container("c-\(user)", activation: "a-\(user)", user: user)) == .staged
    },
    GatedStep(step: "confirmContainer", name: "the confirmation of a device") { storage, user in
      try await storage.add(Sample.activation("a-\(user)", user: user))
      _ = try await storage.finish(
        "a-\(user)", Sample.container("c-\(user)", activation: "a-\(user)", user: user))
    } accepts: { storage, user in
      try await storage.confirm("c-\(user)") == .activated
    },
    GatedStep(step: "stageRenewal", name: "a renewal") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: { storage, user in
      var successor = Sample.container("n-\(user)", activation: "a-c-\(user)", user: user)
      successor.renews = "c-\(user)"
      let new = NewContainer(successor, Sample.credential(ID(of: successor.id), user: user))
      return try await storage.stageRenewal(of: "c-\(user)", by: new, limit: 3) { _ in event("renewal") }
        == .staged
    },
    GatedStep(step: "addPushTarget", name: "a target of pushes") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: {
      storage, user in
      let target = PushTargetRecord(
        id: "p-\(user)", container: "c-\(user)", name: "", service: "fcm", sealedTarget: [1], created: 1)
      return try await storage.addPushTarget(target, limit: 5, audit: event("target"))
    },
    GatedStep(step: "changePushTarget", name: "another address of a target of pushes") { storage, user in
      try await storage.activate("c-\(user)", user: user)
      let target = PushTargetRecord(
        id: "p-\(user)", container: "c-\(user)", name: "", service: "fcm", sealedTarget: [1], created: 1)
      _ = try await storage.addPushTarget(target, limit: 5, audit: event("target"))
    } accepts: { storage, user in
      try await storage.changePushTarget(
        "p-\(user)", of: "c-\(user)", name: nil, target: ("fcm", [2]), audit: event("changed"))
    },
    GatedStep(step: "setUserCode", name: "another code of a user") { _, _ in
    } accepts: { storage, user in
      try await storage.setUserCode([1], of: user, audit: event("code"))
    },
    GatedStep(step: "addTransaction", name: "a request of a relying party") { _, _ in
    } accepts: { storage, user in
      try await storage.addTransaction(
        Sample.transaction("t-\(user)", user: user), key: nil, limits: Sample.limits
      ) { _ in event("transaction") } == .added
    },
    GatedStep(step: "assignToken", name: "a token that was imported") { storage, user in
      let token = Sample.credential("k-\(user)", user: nil, serial: "s-\(user)")
      _ = try await storage.addTokens([token]) { _ in event("token") }
    } accepts: { storage, user in
      try await storage.assignToken("s-\(user)", to: user, audit: event("assigned")) == .done
    },
    GatedStep(step: "addTokens", name: "a token of a user that is imported") { _, _ in
    } accepts: { storage, user in
      try await storage.addTokens([Sample.credential("k-\(user)", user: user, serial: "s-\(user)")]) { _ in
        event("token")
      } == ["s-\(user)"]
    },
    GatedStep(step: "addBackchannelRequest", name: "a request of a client of OpenID Connect") {
      storage, user in
      try await storage.addClient(for: user)
    } accepts: { storage, user in
      try await storage.askByClient(user) == .added
    },
    GatedStep(step: "issueTokens", name: "tokens for what was accepted") { storage, user in
      try await storage.activate("c-\(user)", user: user)
      try await storage.addClient(for: user)
      _ = try await storage.askByClient(user)
      _ = try await storage.decide("t-\(user)", Sample.decision(by: "c-\(user)"))
    } accepts: { storage, user in
      try await storage.issueTokens(
        for: Array(user.text.utf8), of: "bank-\(user)", at: 1200, pushedWithin: 60, audit: event("issued"))
    },
    GatedStep(step: "redeemUAFToken", name: "a UAF token") { storage, user in
      var session = Sample.uafOperation("u-\(user)", of: user)
      (session.state, session.request) = (.tokenCreated, nil)
      (session.tokenDigest, session.tokenExpires) = (Array(user.text.utf8), 1100)
      try await storage.addUAFOperation(session, audit: nil)
    } accepts: { storage, user in
      try await storage.redeemUAFToken(
        Array(user.text.utf8), request: [1], at: 1050, until: 1100, audit: event("redeemed"))
    },
    GatedStep(step: "addUAFOperation", name: "the beginning of a UAF operation") { _, _ in
    } accepts: { storage, user in
      try await storage.addUAFOperation(Sample.uafOperation("u-\(user)", of: user), audit: nil)
      return true
    },
    GatedStep(step: "finishUAFRegistration", name: "a UAF registration") { storage, user in
      try await storage.addUAFOperation(Sample.uafOperation("u-\(user)", "Reg", of: nil), audit: nil)
    } accepts: { storage, user in
      try await storage.registerUAF("u-\(user)", of: user) == .accepted
    },
    GatedStep(step: "finishUAFAuthentication", name: "a UAF authentication") { storage, user in
      try await storage.addUAFOperation(Sample.uafOperation("r-\(user)", "Reg", of: nil), audit: nil)
      _ = try await storage.registerUAF("r-\(user)", of: user)
      try await storage.addUAFOperation(Sample.uafOperation("u-\(user)", of: nil), audit: nil)
    } accepts: { storage, user in
      let use = CounterUpdate(aaid: "7357#0001", keyID: Array(user.text.utf8), signCounter: 9)
      return try await storage.finishUAFAuthentication(
        "u-\(user)", of: user, UAFOperationEnd(status: 1200, time: 1050), uses: [use]
      ) { _ in event("uaf") } == .accepted
    },
    GatedStep(step: "addUAFTarget", name: "a device for UAF tokens") { _, _ in
    } accepts: { storage, user in
      let target = UAFTargetRecord(
        id: "d-\(user)", user: user, device: nil, name: "n", dispatcher: nil, sealedTarget: nil,
        signatureKey: [1], encryptionKey: nil, created: 1)
      return try await storage.addUAFTarget(target, limit: 5, audit: event("device"))
    },
    GatedStep(step: "changeUAFTarget", name: "another address of a device for UAF tokens") { storage, user in
      let target = UAFTargetRecord(
        id: "d-\(user)", user: user, device: nil, name: "n", dispatcher: nil, sealedTarget: nil,
        signatureKey: [1], encryptionKey: nil, created: 1)
      _ = try await storage.addUAFTarget(target, limit: 5, audit: event("device"))
    } accepts: { storage, user in
      try await storage.changeUAFTarget(
        "d-\(user)", UAFTargetChange(sealedTarget: [2]), audit: event("changed"))
    },
    GatedStep(step: "addPushAuthMechanism", name: "an authenticator app") { _, _ in
    } accepts: { storage, user in
      try await storage.addPushAuthMechanism(
        Sample.mechanism("m-\(user)", of: user), with: nil, audit: event("app"))
      return true
    },
    GatedStep(step: "registerPushAuthMechanism", name: "the registration of an authenticator app") {
      storage, user in
      try await storage.addPushAuthMechanism(
        Sample.mechanism("m-\(user)", of: user), with: nil, audit: event("app"))
    } accepts: { storage, user in
      try await storage.registerApp("m-\(user)")
    },
    GatedStep(step: "changePushAuthDevice", name: "another address of an authenticator app") {
      storage, user in
      try await storage.addPushAuthMechanism(
        Sample.mechanism("m-\(user)", of: user), with: nil, audit: event("app"))
      _ = try await storage.registerApp("m-\(user)")
    } accepts: { storage, user in
      try await storage.changePushAuthDevice(
        "m-\(user)", sealedDevice: [6], digest: [UInt8](repeating: 1, count: 32), audit: event("changed"))
    },
    GatedStep(step: "answerPushAuthMessage", name: "an answer to a push message") { storage, user in
      try await storage.addPushAuthMechanism(
        Sample.mechanism("m-\(user)", of: user), with: nil, audit: event("app"))
      _ = try await storage.registerApp("m-\(user)")
      _ = try await storage.ask(
        Sample.message("g-\(user)", to: "m-\(user)"), of: user, limits: Sample.limits)
    } accepts: { storage, user in
      try await storage.answerPushAuthMessage("g-\(user)", .yes, at: 1050, audit: event("answer"))
        == .accepted
    },
  ]

  static let userGate: [Check] =
    gatedSteps.map { step in
      Check("\(step.name): accepted of an active user, and of no other") { storage in
        for user in ["active", "suspended", "resumed", "deleted"] as [UserID] {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await step.prepare(storage, user)
        }
        try await expect(storage.suspend("suspended"), is: .changed, "suspend")
        try await expect(storage.suspend("resumed"), is: .changed, "suspend")
        try await expect(
          storage.resumeUser("resumed", at: 1020, audit: event("resumed")), is: .changed, "resume")
        try await expect(storage.delete("deleted"), is: .changed, "delete")
        try await expect(step.accepts(storage, "active"), is: true, "of an active user")
        for user in ["suspended", "deleted"] as [UserID] {
          let before = try await storage.container("c-\(user)")
          do {
            try await expect(step.accepts(storage, user), is: false, "of a user who is \(user)")
          } catch StorageFailure.userNotActive(let state) {
            try expect(state.rawValue, is: user.text, "the state that is told")
          } catch StorageFailure.unknown where user == "deleted" {
            // All objects of the account were deleted.
          }
          try await expect(storage.container("c-\(user)"), is: before, "the container afterwards")
        }
      }
    }
}
