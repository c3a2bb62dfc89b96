import SignetCrypto
import SignetStorage

extension StorageContract {
  /// A step that accepts something of a user, or binds something to the account.
  private struct GatedStep: Sendable {
    /// The method of ``SignetStorage/Storage``.
    let step: String
    let name: String
    /// What has to be there before the step, while the user is active.
    let prepare: @Sendable (Storage, _ user: String) async throws -> Void
    /// Whether the step accepted.
    let accepts: @Sendable (Storage, _ user: String) async throws -> Bool
  }

  /// The steps that accept something of an active user only, by the names of their methods.
  package static let gatedStepNames = Set(gatedSteps.map(\.step))

  /// All of them: a new step that accepts belongs here.
  private static let gatedSteps: [GatedStep] = [
    GatedStep(step: "attemptCode", name: "a one-time password") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: {
      storage, user in
      try await storage.submit(5, container: "c-\(user)", user: user) == .accepted
    },
    GatedStep(step: "tryUserCode", name: "the code of a user") { _, _ in
    } accepts: { storage, user in
      try await storage.tryUserCode(CodeAttempt(user: user, client: [1])) {
        CodeVerdict(.accepted, wait: $0, audit: event("user code"))
      } == .accepted
    },
    GatedStep(step: "claimRequest", name: "a signed request of a device") {
      try await $0.activate("c-\($1)", user: $1)
    } accepts: {
      storage, user in
      try await storage.claimRequest(Array(user.utf8), container: "c-\(user)", expires: 5000)
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
      let new = NewContainer(successor, Sample.credential(successor.id, user: user))
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
        for: Array(user.utf8), of: "bank-\(user)", at: 1200, pushedWithin: 60, audit: event("issued"))
    },
    GatedStep(step: "redeemUAFToken", name: "a UAF token") { storage, user in
      var session = Sample.uafSession("u-\(user)", of: user)
      (session.state, session.request) = (.tokenCreated, nil)
      (session.tokenDigest, session.tokenExpires) = (Array(user.utf8), 1100)
      try await storage.addUAFSession(session, audit: nil)
    } accepts: { storage, user in
      try await storage.redeemUAFToken(
        Array(user.utf8), request: [1], at: 1050, until: 1100, audit: event("redeemed"))
    },
    GatedStep(step: "addUAFSession", name: "the beginning of a UAF operation") { _, _ in
    } accepts: { storage, user in
      try await storage.addUAFSession(Sample.uafSession("u-\(user)", of: user), audit: nil)
      return true
    },
    GatedStep(step: "finishUAFRegistration", name: "a UAF registration") { storage, user in
      try await storage.addUAFSession(Sample.uafSession("u-\(user)", "Reg", of: nil), audit: nil)
    } accepts: { storage, user in
      try await storage.registerUAF("u-\(user)", of: user) == .taken
    },
    GatedStep(step: "finishUAFAuthentication", name: "a UAF authentication") { storage, user in
      try await storage.addUAFSession(Sample.uafSession("r-\(user)", "Reg", of: nil), audit: nil)
      _ = try await storage.registerUAF("r-\(user)", of: user)
      try await storage.addUAFSession(Sample.uafSession("u-\(user)", of: nil), audit: nil)
    } accepts: { storage, user in
      let use = UAFKeyUse(aaid: "7357#0001", keyID: Array(user.utf8), signCounter: 9)
      return try await storage.finishUAFAuthentication(
        "u-\(user)", of: user, UAFSessionEnd(status: 1200, time: 1050), uses: [use]
      ) { _ in event("uaf") } == .taken
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
    GatedStep(step: "addPushAuthMessage", name: "a push message") { storage, user in
      try await storage.addPushAuthMechanism(
        Sample.mechanism("m-\(user)", of: user), with: nil, audit: event("app"))
      _ = try await storage.registerApp("m-\(user)")
    } accepts: { storage, user in
      try await storage.addPushAuthMessage(
        Sample.message("g-\(user)", to: "m-\(user)"), limits: Sample.limits
      ) { _ in event("message") } == .added
    },
    GatedStep(step: "answerPushAuthMessage", name: "an answer to a push message") { storage, user in
      try await storage.addPushAuthMechanism(
        Sample.mechanism("m-\(user)", of: user), with: nil, audit: event("app"))
      _ = try await storage.registerApp("m-\(user)")
      _ = try await storage.addPushAuthMessage(
        Sample.message("g-\(user)", to: "m-\(user)"), limits: Sample.limits
      ) { _ in event("message") }
    } accepts: { storage, user in
      try await storage.answerPushAuthMessage("g-\(user)", .approved, at: 1050, audit: event("answer")) { _ in
        true
      }
        == .taken
    },
  ]

  static let userLife: [Check] =
    gatedSteps.map { step in
      Check("\(step.name): accepted of an active user, and of no other") { storage in
        for user in ["active", "suspended", "resumed", "deleted"] {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await step.prepare(storage, user)
        }
        try await expect(storage.suspend("suspended"), is: .changed, "suspend")
        try await expect(storage.suspend("resumed"), is: .changed, "suspend")
        try await expect(
          storage.resumeUser("resumed", at: 1020, audit: event("resumed")), is: .changed, "resume")
        try await expect(storage.delete("deleted"), is: .changed, "delete")
        try await expect(step.accepts(storage, "active"), is: true, "of an active user")
        for user in ["suspended", "deleted"] {
          let before = try await storage.container("c-\(user)")
          do {
            try await expect(step.accepts(storage, user), is: false, "of a user who is \(user)")
          } catch StorageFailure.userNotActive(let state) {
            try expect(state.rawValue, is: user, "the state that is told")
          } catch StorageFailure.unknown where user == "deleted" {
            // What was bound to the account is gone.
          }
          try await expect(storage.container("c-\(user)"), is: before, "the container afterwards")
        }
      }
    } + [
      Check("what refuses is taken of what a suspended user has, and nothing of a deleted one") { storage in
        for user in ["suspended", "deleted"] {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
          for name in ["cancelled", "denied", "reported", "accepted"] {
            try await storage.addOpen("\(name)-\(user)")
          }
          let target = PushTargetRecord(
            id: "p-\(user)", container: "c-\(user)", name: "", service: "fcm", sealedTarget: [1], created: 1)
          _ = try await storage.addPushTarget(target, limit: 5, audit: event("target"))
          try await storage.addUAFSession(Sample.uafSession("r-\(user)", "Reg", of: nil), audit: nil)
          _ = try await storage.registerUAF("r-\(user)", of: user)
        }
        try await expect(storage.suspend("suspended"), is: .changed, "suspend")
        try await expect(storage.delete("deleted"), is: .changed, "delete")
        @Sendable func cancel(_ user: String) async throws -> DecisionOutcome {
          try await storage.end("cancelled-\(user)", Sample.end(.cancelled, by: "c-\(user)"))
        }
        @Sendable func decide(
          _ state: TransactionRecord.State, _ user: String
        ) async throws -> DecisionOutcome {
          try await storage.decide("\(state)-\(user)", Sample.decision(state, by: "c-\(user)"))
        }
        @Sendable func remove(_ user: String) async throws -> Bool {
          try await storage.removePushTarget(
            "p-\(user)", of: "c-\(user)", ifSealed: nil, audit: event("removed"))
        }
        try await expect(
          storage.claimRequest([1], container: "c-suspended", expires: 5000, isGranting: false), is: true,
          "a request that grants nothing")
        try await expect(cancel("suspended"), is: .decided, "a cancellation")
        try await expect(cancel("deleted"), is: .unknown, "a cancellation of nobody's")
        for state in [TransactionRecord.State.denied, .reported] {
          try await expect(decide(state, "suspended"), is: .decided, "\(state)")
          try await expect(storage.transaction("\(state)-suspended")?.user, is: "suspended", "whose it is")
          try await expect(decide(state, "deleted"), is: .signerChanged, "\(state) of nobody's")
        }
        try await expect(.userNotActive(.suspended), "a yes") { try await decide(.accepted, "suspended") }
        try await expect(
          storage.transaction("accepted-suspended")?.state, is: .pending, "what was said yes to")
        try await expect(remove("suspended"), is: true, "a target of pushes")
        try await expect(remove("deleted"), is: false, "a target of nobody's")
        try await storage.addUAFSession(Sample.uafSession("d", "Dereg", of: "suspended"), audit: nil)
        try await expect(
          storage.finishUAFDeregistration(
            "d", of: "suspended", UAFSessionEnd(status: 1200, time: 1050), removing: [UAFKeySelection()],
            audit: event("ended")
          ) { _, _ in event("removed") }, is: .taken, "a deregistration")
        try await expect(storage.uafCredentials(user: "suspended"), is: [], "the keys")
      },
      Check("a suspension ends what is under way, once, and tells who waits; after it the user goes on") {
        storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        for id in ["t1", "t2"] {
          try await storage.addTransaction(Sample.transaction(id), audit: event("transaction"))
        }
        try await storage.addUAFSession(Sample.uafSession("u1", of: "alice"), audit: nil)
        let position = try await storage.transactionChanges(after: nil).last
        try await expect(storage.suspend("alice"), is: .changed, "suspend")
        try await expect(storage.suspend("alice"), is: .unchanged, "again")
        try await expect(storage.suspend("bob"), is: .unknown, "nobody")
        let user = try await storage.user("alice")
        try expect(user?.state, is: .suspended, "the state")
        try expect(user?.stateReason, is: "why", "the reason")
        try expect(user?.stateSince, is: 1010, "since when")
        for id in ["t1", "t2"] {
          try await expect(storage.transaction(id)?.state, is: .withdrawn, "a request")
          try await expect(storage.transaction(id)?.end?.reason, is: "userNotActive", "why it ended")
        }
        try await expect(storage.uafSession("u1")?.state, is: .failed, "an operation")
        try await expect(storage.uafSession("u1")?.hasEndedAsForbidden, is: true, "how it ended")
        try await expect(storage.transactionChanges(after: position).users, is: ["alice"], "who is told")
        let texts = try await log(of: storage)
        try expect(texts.count { $0 == event("ended").text }, is: 2, "events of the requests")
        try expect(texts.count { $0 == event("suspended").text }, is: 1, "events of the suspension")
        try await expect(
          storage.resumeUser("alice", at: 1020, audit: event("resumed")), is: .changed, "resume")
        try await expect(
          storage.resumeUser("alice", at: 1020, audit: event("resumed")), is: .unchanged, "again")
        try await expect(storage.container("c1")?.state, is: .active, "the container")
        try await expect(storage.submit(5), is: .accepted, "a code")
      },
      Check(
        "a deletion removes what is bound to the account, and the id; the subject and the public keys stay"
      ) { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        try await storage.append(AuditRecord(.userUnlocked(user: "alice"), by: .user("alice"), at: 1005))
        try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
        _ = try await storage.decide("t1", Sample.decision())
        _ = try await storage.addTokens([Sample.credential("k1", user: nil, serial: "s1")]) { _ in
          event("token")
        }
        _ = try await storage.assignToken("s1", to: "alice", audit: event("assigned"))
        for id in ["registered", "open"] {
          var app = Sample.mechanism(id, of: "alice")
          app.credential = "codes-\(id)"
          try await storage.addPushAuthMechanism(
            app, with: Sample.credential("codes-\(id)", serial: "app-\(id)"), audit: event("app"))
        }
        try await expect(storage.registerApp("registered"), is: true, "an app")
        try await storage.addUAFSession(Sample.uafSession("r1", "Reg", of: nil), audit: nil)
        _ = try await storage.registerUAF("r1", of: "alice")
        try await expect(storage.delete("alice"), is: .changed, "delete")
        try await expect(storage.delete("alice"), is: .unknown, "again")
        try await expect(storage.delete(Sample.alice.subject), is: .unchanged, "again, by the subject")
        for name in ["alice", Sample.alice.subject] {
          try await expect(
            storage.resumeUser(name, at: 1020, audit: event("resumed")), is: .unknown, "resume")
        }
        try await expect(storage.user("alice"), is: nil, "the id")
        let gone = try await storage.user(subject: Sample.alice.subject)
        try expect(gone?.id, is: Sample.alice.subject, "what is left of the id")
        try expect(gone?.state, is: .deleted, "the user")
        let log = try await log(of: storage)
        try expect(log.count { $0.contains("alice") && !$0.contains("~alice") }, is: 0, "the id in the log")
        try expect(
          log.count { $0.contains(#""by":"user:~alice","user":"~alice""#) }, is: 1, "the subject in the log")
        let container = try await storage.container("c1")
        try expect(container?.state, is: .revoked, "the container")
        try expect(container?.name, is: "", "its name")
        try await expect(storage.credential("c1"), is: nil, "what made codes")
        for id in ["registered", "open"] {
          try await expect(storage.credential("codes-\(id)"), is: nil, "the codes of an app: \(id)")
        }
        try await expect(storage.credential("k1")?.user, is: nil, "whose the token is")
        try await expect(storage.credential("k1")?.state, is: .pending, "the token")
        try await expect(storage.uafCredentials(user: "alice"), is: [], "the keys")
        try await expect(storage.transaction("t1"), is: nil, "the request")
        try expect(container?.user, is: Sample.alice.subject, "whose it was")
        try await expect(.exists, "the same subject again") {
          try await storage.add(UserRecord(id: "carol", subject: Sample.alice.subject, created: 1000))
        }
        try await storage.add(UserRecord(id: "alice", subject: "~other", created: 1030))
        try await expect(storage.containers(user: "alice"), is: [], "what another user of the id has")
        try await expect(
          storage.userIDs(of: [Sample.alice.subject, "~other", "~nobody"]),
          is: [Sample.alice.subject: Sample.alice.subject, "~other": "alice"], "who is who")
        try await storage.append(AuditRecord(.userUnlocked(user: "~other"), by: .user("~other"), at: 1030))
        try expect(
          try await Self.log(of: storage).count { $0.contains(#""by":"user:~~other","user":"~~other""#) },
          is: 1,
          "a name that is somebody's subject, and nobody's id")
        try await storage.add(Sample.bob)
        try await storage.add(Sample.activation("a-b", user: "bob"))
        var thief = Sample.container("b1", activation: "a-b", user: "bob")
        thief.signingKey = container?.signingKey ?? []
        try await expect(storage.finish("a-b", thief), is: .keyTaken, "a public key of the deleted user")
      },
      Check("50 suspensions and resumptions at once: each is one step, and the last holds") { storage in
        try await storage.add(Sample.alice)
        let outcomes = try await race { number in
          number % 2 == 0
            ? try await storage.suspend("alice")
            : try await storage.resumeUser("alice", at: 1020, audit: event("resumed"))
        }
        let events = try await log(of: storage)
        try expect(
          events.count { [event("suspended").text, event("resumed").text].contains($0) },
          is: outcomes.count { $0 == .changed }, "events")
        let suspended = try await storage.user("alice")?.state == .suspended
        try expect(outcomes.count { $0 == .changed } % 2 == 1, is: suspended, "the state at the end")
      },
    ]
}

extension Sample {
  fileprivate static func uafSession(
    _ id: String, _ operation: String = "Auth", of user: String?
  ) -> UAFSessionRecord {
    var session = UAFSessionRecord(
      id: id, operation: operation, user: user, context: "{}", created: 1000, expires: 1100, state: .requested
    )
    session.request = [1, 2]
    return session
  }

  fileprivate static func mechanism(_ id: String, of user: String) -> PushAuthMechanismRecord {
    PushAuthMechanismRecord(
      id: id, user: user, sealedSecret: [1], challenge: [2], created: 1000, expires: 1900)
  }

  fileprivate static func message(_ id: String, to mechanism: String) -> PushAuthMessageRecord {
    PushAuthMessageRecord(
      id: id, mechanism: mechanism, kind: "default", challenge: [3], created: 1000, expires: 1100)
  }
}

extension Storage {
  /// Adds a request that anybody may answer.
  fileprivate func addOpen(_ id: String) async throws {
    var transaction = Sample.transaction(id)
    transaction.user = nil
    try await addTransaction(transaction, audit: StorageContract.event("transaction"))
  }

  /// Adds a client of OpenID Connect that asks a user.
  fileprivate func addClient(for user: String) async throws {
    try await addClient(
      ClientRecord(
        id: "bank-\(user)", name: "Bank", authentication: .privateKeyJWT, delivery: .poll, created: 5),
      audit: StorageContract.event("client"))
  }

  /// Adds the request of that client.
  fileprivate func askByClient(_ user: String) async throws -> AdmissionOutcome {
    let request = BackchannelRecord(
      digest: Array(user.utf8), transaction: "t-\(user)", client: "bank-\(user)", delivery: .poll,
      expires: 1_330, interval: 5)
    return try await addBackchannelRequest(
      request, asking: Sample.transaction("t-\(user)", user: user), limits: Sample.limits
    ) { _ in StorageContract.event("asked") }
  }

  fileprivate func suspend(_ user: String) async throws(StorageFailure) -> UserChangeOutcome {
    try await suspendUser(
      user, reason: "why", subject: "~new", at: 1010, audit: StorageContract.event("suspended")
    ) { _ in
      StorageContract.event("ended")
    }
  }

  fileprivate func delete(_ user: String) async throws(StorageFailure) -> UserChangeOutcome {
    try await deleteUser(user, subject: "~new", at: 1010, audit: StorageContract.event("deleted")) { _ in
      StorageContract.event("ended")
    }
  }

  fileprivate func registerUAF(_ session: String, of user: String) async throws -> UAFOutcome {
    let credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: Array(user.utf8), user: user, publicKey: [4] + user.utf8, algorithm: 1,
      keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
    return try await finishUAFRegistration(
      session, UAFSessionEnd(status: 1200, time: 1050), adding: [credential.new], limit: 4
    ) { _ in StorageContract.event("uaf") }
  }

  fileprivate func registerApp(_ mechanism: String) async throws -> Bool {
    try await registerPushAuthMechanism(
      mechanism, named: "app of \(mechanism)", sealedDevice: [5], at: 1001,
      audit: StorageContract.event("registered"))
  }
}
