import SignetCrypto
import SignetStorage

extension StorageContract {
  static let userLife: [Check] = [
    Check("what refuses is taken of what a suspended user has, and nothing of a deleted one") { storage in
      for user in ["suspended", "deleted"] as [UserID] {
        try await storage.add(UserRecord(id: user, created: 1000))
        try await storage.activate("c-\(user)", user: user)
        for name in ["cancelled", "denied", "reported", "accepted"] {
          try await storage.addOpen("\(name)-\(user)")
        }
        let target = PushTargetRecord(
          id: "p-\(user)", container: "c-\(user)", name: "", service: "fcm", sealedTarget: [1], created: 1)
        _ = try await storage.addPushTarget(target, limit: 5, audit: event("target"))
        try await storage.addUAFOperation(Sample.uafOperation("r-\(user)", "Reg", of: nil), audit: nil)
        _ = try await storage.registerUAF("r-\(user)", of: user)
      }
      try await expect(storage.suspend("suspended"), is: .changed, "suspend")
      try await expect(storage.delete("deleted"), is: .changed, "delete")
      @Sendable func cancel(_ user: UserID) async throws -> DecisionOutcome {
        try await storage.end("cancelled-\(user)", Sample.end(.cancelled, by: "c-\(user)"))
      }
      @Sendable func decide(
        _ state: TransactionRecord.State, _ user: UserID
      ) async throws -> DecisionOutcome {
        try await storage.decide("\(state)-\(user)", Sample.decision(state, by: "c-\(user)"))
      }
      @Sendable func remove(_ user: UserID) async throws -> Bool {
        try await storage.removePushTarget(
          "p-\(user)", of: "c-\(user)", ifSealed: nil, audit: event("removed"))
      }
      try await expect(
        storage.claimRequest([1], of: "c-suspended", expires: 5000, isGranting: false)?.id,
        is: "c-suspended", "a request that grants nothing")
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
      try await storage.addUAFOperation(Sample.uafOperation("d", "Dereg", of: "suspended"), audit: nil)
      try await expect(
        storage.finishUAFDeregistration(
          "d", of: "suspended", UAFOperationEnd(status: 1200, time: 1050), removing: [UAFKeySelection()],
          audit: event("ended")
        ) { _, _ in event("removed") }, is: .accepted, "a deregistration")
      try await expect(storage.uafCredentials(user: "suspended"), is: [], "the keys")
    },
    Check("a suspension ends what is under way, once, and tells who waits; after it the user goes on") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for id in ["t1", "t2"] as [TransactionID] {
        try await storage.addTransaction(Sample.transaction(id), audit: event("transaction"))
      }
      try await storage.addUAFOperation(Sample.uafOperation("u1", of: "alice"), audit: nil)
      let position = try await storage.transactionChanges(after: nil).last
      try await expect(storage.suspend("alice"), is: .changed, "suspend")
      try await expect(storage.suspend("alice"), is: .unchanged, "again")
      try await expect(storage.suspend("bob"), is: .unknown, "nobody")
      let user = try await storage.user("alice")
      try expect(user?.state, is: .suspended, "the state")
      try expect(user?.stateReason, is: "why", "the reason")
      try expect(user?.stateSince, is: 1010, "since when")
      for id in ["t1", "t2"] as [TransactionID] {
        try await expect(storage.transaction(id)?.state, is: .withdrawn, "a request")
        try await expect(storage.transaction(id)?.end?.reason, is: "userNotActive", "why it ended")
      }
      try await expect(storage.uafOperation("u1")?.state, is: .failed, "an operation")
      try await expect(storage.uafOperation("u1")?.hasEndedAsForbidden, is: true, "how it ended")
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
      for id in ["registered", "open"] as [ID<PushAuthMechanismRecord>] {
        var app = Sample.mechanism(id, of: "alice")
        app.credential = "codes-\(id)"
        try await storage.addPushAuthMechanism(
          app, with: Sample.credential("codes-\(id)", serial: "app-\(id)"), audit: event("app"))
      }
      try await expect(storage.registerApp("registered"), is: true, "an app")
      try await storage.addUAFOperation(Sample.uafOperation("r1", "Reg", of: nil), audit: nil)
      _ = try await storage.registerUAF("r1", of: "alice")
      try await expect(storage.delete("alice"), is: .changed, "delete")
      try await expect(storage.delete("alice"), is: .unknown, "again")
      try await expect(storage.delete("\(Sample.alice.subject)"), is: .unchanged, "again, by the subject")
      for name in ["alice", "\(Sample.alice.subject)"] as [UserID] {
        try await expect(
          storage.resumeUser(name, at: 1020, audit: event("resumed")), is: .unknown, "resume")
      }
      try await expect(storage.user("alice"), is: nil, "the id")
      let gone = try await storage.user(subject: Sample.alice.subject)
      try expect(gone?.id, is: "\(Sample.alice.subject)", "what is left of the id")
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
      try expect(container?.user, is: "\(Sample.alice.subject)", "whose it was")
      try await expect(.exists, "the same subject again") {
        try await storage.add(UserRecord(id: "carol", subject: Sample.alice.subject, created: 1000))
      }
      try await storage.add(UserRecord(id: "alice", subject: "~other", created: 1030))
      try await expect(storage.containers(user: "alice"), is: [], "what another user of the id has")
      try await expect(
        storage.userIDs(of: [Sample.alice.subject, "~other", "~nobody"]),
        is: [Sample.alice.subject: "\(Sample.alice.subject)", "~other": "alice"], "who is who")
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
