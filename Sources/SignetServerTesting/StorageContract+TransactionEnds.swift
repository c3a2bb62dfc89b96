import SignetStorage

extension StorageContract {
  static let transactionEnds: [Check] = [
    Check("a transaction is cancelled or withdrawn once; the same again is a repetition") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.activate("b1", user: "bob")
      for id in ["t1", "t2", "t3"] as [TransactionID] {
        try await storage.addTransaction(Sample.transaction(id), audit: event("transaction"))
      }
      try await expect(
        storage.end("t1", Sample.end(.cancelled, by: "b1")), is: .unknown, "another user's cancellation")
      try await expect(storage.end("t1", Sample.end(.cancelled, by: "c1")), is: .decided, "a cancellation")
      try await expect(storage.end("t1", Sample.end(.cancelled, by: "c1")), is: .repeated, "the same again")
      try await expect(storage.end("t1", Sample.end(.withdrawn)), is: .cancelled, "withdrawn, too late")
      try await expect(storage.decide("t1", Sample.decision()), is: .cancelled, "a decision, too late")
      let found = try await storage.transaction("t1")
      try expect(found?.state, is: .cancelled, "the state")
      try expect(found?.end, is: Sample.end(.cancelled, by: "c1"), "the end")
      try expect(found?.decision, is: nil, "the decision")
      try await expect(storage.end("t2", Sample.end(.withdrawn)), is: .decided, "a withdrawal")
      try await expect(storage.end("t2", Sample.end(.withdrawn)), is: .repeated, "the same again")
      try await expect(
        storage.end("t2", Sample.end(.cancelled, by: "c1")), is: .cancelled, "cancelled, too late")
      try await expect(storage.decide("t3", Sample.decision(.reported)), is: .decided, "a report")
      try await expect(storage.end("t3", Sample.end(.withdrawn)), is: .decidedBefore, "after a decision")
      try await expect(storage.end("t4", Sample.end(.withdrawn)), is: .unknown, "one that is none")
    },
    Check("with a revoked API key nothing is asked, withdrawn or answered, and nothing written") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let key = APIKeyRecord(id: "k1", name: "shop", scopes: ["shop"], secretDigest: [1], created: 5)
      try await storage.addAPIKey(key, audit: event("key"))
      try await expect(
        storage.make(Sample.transaction("t1"), Sample.limits, key: "k1"), is: .added, "a good key")
      _ = try await storage.revokeAPIKey("k1", keepingOneOf: "admin", at: 9, audit: event("revoked"))
      let entries = try await log(of: storage).count
      for key in ["k1", "k2"] as [ID<APIKeyRecord>] {
        try await expect(
          storage.make(Sample.transaction("t2"), Sample.limits, key: key), is: .keyRevoked,
          "asked with \(key)")
        try await expect(
          storage.end("t1", Sample.end(.withdrawn), key: key), is: .keyRevoked, "withdrawn with \(key)")
        for container in ["c1", nil] as [ContainerID?] {
          try await expect(
            storage.answer("t1", by: container, key: key), is: .keyRevoked, "answered with \(key)")
        }
      }
      try await expect(storage.transaction("t2"), is: nil, "what was asked")
      try await expect(storage.transaction("t1")?.state, is: .pending, "the state")
      try await expect(storage.credential("c1")?.failures, is: 0, "refused codes")
      try await expect(log(of: storage).count, is: entries, "entries of the log")
      try await expect(storage.answer("t1", by: "c1", key: nil), is: .decided, "answered without a key")
    },
    Check("a wrong answer counts with the codes and makes its address wait, and no other") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      let wait = WaitRecord(failures: 4, until: 1130, expires: 90_000)
      @Sendable func answer(_ container: ContainerID?, from client: [UInt8]) async throws -> DecisionOutcome {
        let attempt = AnswerAttempt(container: container, isTyped: true, client: client, time: 1100)
        return try await storage.answerTransaction(
          "t1", attempt, attempts: 3, waits: { ($0 == wait ? 30 : nil, wait) }
        ) { event("answer \($0)") }
      }
      try await expect(answer(nil, from: [1]), is: .notSigned, "a wrong answer")
      try await expect(storage.credential("c1")?.failures, is: 1, "refused codes")
      for container in [nil, "c1"] as [ContainerID?] {
        try await expect(answer(container, from: [1]), is: .waiting(seconds: 30), "an answer within the wait")
      }
      try await expect(storage.credential("c1")?.failures, is: 1, "refused codes, after the wait began")
      try await expect(answer("c1", from: [2]), is: .decided, "an answer from elsewhere")
      let found = try await storage.transaction("t1")
      try expect(found?.decision?.isTyped, is: true, "whether it was typed")
    },
    Check("the fields that are typed are kept, none of them and no wish for them being two things") {
      storage in
      try await storage.add(Sample.alice)
      for (id, fields) in [("t1", [0, 2, 31]), ("t2", []), ("t3", nil)] as [(String, [Int]?)] {
        var transaction = Sample.transaction("\(id)")
        transaction.typedFields = fields
        try await storage.addTransaction(transaction, audit: event("transaction"))
        try await expect(
          storage.transaction("\(id)"), is: transaction, "the transaction with \(fields ?? [-1])")
      }
    },
    Check("what a device is refused fills the audit log no further than sixty entries an hour") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      _ = try await storage.decide("t1", Sample.decision(.denied))
      let before = try await log(of: storage).count
      for _ in 0..<40 {
        try await expect(storage.decide("t1", Sample.decision()), is: .decidedBefore, "a decision")
        try await expect(
          storage.end("t1", Sample.end(.cancelled, by: "c1")), is: .decidedBefore, "a cancellation")
      }
      try await expect(log(of: storage).count, is: before + 60, "entries")
      let later = try await storage.endTransaction(
        "t1", Sample.end(.cancelled, by: "c1"), isSuspicious: false, key: nil, limits: Sample.limits
      ) { _ in AuditRecord(.userAdded(user: "end"), by: .local, at: 3600) }
      try expect(later, is: .decidedBefore, "an hour later")
      try await expect(log(of: storage).count, is: before + 61, "entries an hour later")
      try await storage.addTransaction(Sample.transaction("t2"), audit: event("transaction"))
      try await expect(storage.decide("t2", Sample.decision()), is: .decided, "what is taken")
      try await expect(log(of: storage).count, is: before + 63, "entries of what is taken")
    },
    Check("an end is too late from the transaction's expiry on") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      for end in [Sample.end(.cancelled, by: "c1", at: 1300), Sample.end(.withdrawn, at: 1300)] {
        try await expect(storage.end("t1", end), is: .expired, "an end at the expiry")
      }
      try await expect(storage.transaction("t1")?.state, is: .expired, "what was told")
      try await expect(
        storage.end("t1", Sample.end(.cancelled, by: "c1", at: 1240)), is: .expired, "an end a minute before")
    },
    Check(
      "what nobody has found to have expired has expired, also where its user is suspended, or its container revoked"
    ) {
      storage in
      for user: UserID in ["alice", "bob"] {
        try await storage.add(user == "alice" ? Sample.alice : Sample.bob)
        try await storage.activate("c-\(user)", user: user)
        for (id, created) in [("over", 1000), ("open", 1001)] as [(String, Int64)] {
          try await storage.addTransaction(
            Sample.transaction("\(id)-\(user)", user: user, created: created), audit: event("transaction"))
        }
      }
      let outcome = try await storage.suspendUser(
        "alice", reason: "", subject: "~new", at: 1300, audit: event("suspended")
      ) { event("ended \($0)") }
      try expect(outcome, is: .changed, "a suspension")
      let revocation = AuditRecord(.containerRevoked(container: "c-bob"), by: .local, at: 1300)
      _ = try await storage.revokeContainer("c-bob", audit: revocation, lost: Sample.lost)
      for user: UserID in ["alice", "bob"] {
        try await expect(
          storage.transaction("over-\(user)")?.state, is: .expired, "what was over, of \(user)")
        try await expect(storage.transaction("over-\(user)")?.end, is: nil, "a reason, of \(user)")
        try await expect(
          storage.transaction("open-\(user)")?.state, is: .withdrawn, "what waited, of \(user)")
        let expiry = AuditRecord(.transactionExpired(transaction: "over-\(user)"), by: .server, at: 1300)
        try await expect(log(of: storage).count { $0 == expiry.text }, is: 1, "its event, of \(user)")
      }
    },
    Check("what is for anybody becomes that of who ends it, and is nobody else's then") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.activate("b1", user: "bob")
      var open = Sample.transaction("t1")
      open.user = nil
      try await storage.addTransaction(open, audit: event("transaction"))
      try await expect(storage.pendingTransactions(user: "alice", at: 1100), is: [], "listed ones")
      try await expect(storage.decide("t1", Sample.decision(by: "b1")), is: .decided, "bob's decision")
      try await expect(storage.transaction("t1")?.user, is: "bob", "the user")
      try await expect(storage.decide("t1", Sample.decision()), is: .unknown, "alice's decision")
    },
    Check("a wrong number is counted, also at once, and at the limit the transaction is denied") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      var numbered = Sample.transaction("t1")
      numbered.sealedNumber = [1, 2, 3]
      try await storage.addTransaction(numbered, audit: event("transaction"))
      try await expect(storage.transaction("t1"), is: numbered, "the transaction")
      try await expect(
        storage.decide("t1", Sample.decision(), isSigned: false, hasRightNumber: false), is: .notSigned,
        "a wrong number with a wrong signature, which is not counted")
      let outcomes = try await race { _ in
        try await storage.decide("t1", Sample.decision(), hasRightNumber: false)
      }
      for remaining in 0...2 {
        try expect(
          outcomes.filter { $0 == .wrongNumber(remaining: remaining) }.count, is: 1,
          "wrong numbers with \(remaining) left")
      }
      try expect(outcomes.filter { $0 == .decidedBefore }.count, is: 47, "the rest")
      let found = try await storage.transaction("t1")
      try expect(found?.state, is: .denied, "the state")
      try expect(found?.end?.reason, is: "wrongNumber", "the reason")
      try await expect(storage.decide("t1", Sample.decision()), is: .decidedBefore, "a right one, too late")
    },
    Check("no more than the limit wait for a user, however many are made at once") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      let limits = TransactionLimits(pending: 5, challenges: 1000)
      let outcomes = try await race { number in
        var transaction = Sample.transaction("t\(number)")
        transaction.requester = "key:\(number % 2)"
        return try await storage.make(transaction, limits)
      }
      try expect(outcomes.filter { $0 == .added }.count, is: 5, "transactions that were added")
      try expect(
        outcomes.filter { $0 == .tooManyPending(retryAfter: 300) }.count, is: 45, "those that were not")
      let pending = try await storage.pendingTransactions(user: "alice", at: 1000)
      try expect(pending.count, is: 5, "pending ones")
      for requester in ["key:0", "key:1"] {
        try expect((2...3).contains(pending.count { $0.requester == requester }), "half of them, rounded up")
      }
      try await expect(
        storage.make(Sample.transaction("b", user: "bob"), limits), is: .added, "another user's")
      try await expect(
        storage.make(Sample.transaction("late", created: 1300), limits), is: .added, "one after they ended")
      var own = Sample.transaction("own", created: 1300)
      own.isInitiatedByDevice = true
      for number in 0..<6 {
        own.id = "own\(number)"
        try await expect(storage.make(own, limits), is: .added, "one that a device made")
      }
    },
    Check("after so many in a row without an accepted one each next one waits, longer each time") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      // One requester gets half of the limit, rounded up.
      let limits = TransactionLimits(pending: 1000, challenges: 5, wait: 60, longestWait: 200)
      @Sendable func make(_ id: TransactionID, at time: Int64) async throws -> AdmissionOutcome {
        try await storage.make(Sample.transaction(id, created: time), limits)
      }
      for id in ["a1", "a2", "a3"] as [TransactionID] {
        try await expect(make(id, at: 1000), is: .added, "the first three")
      }
      try await expect(make("a4", at: 1000), is: .coolingDown(retryAfter: 60), "the fourth at once")
      try await expect(make("a4", at: 1059), is: .coolingDown(retryAfter: 1), "the fourth a second early")
      try await expect(make("a4", at: 1060), is: .added, "the fourth in time")
      try await expect(make("a5", at: 1060), is: .coolingDown(retryAfter: 120), "the fifth at once")
      try await expect(make("a5", at: 1180), is: .added, "the fifth in time")
      try await expect(make("a6", at: 1180), is: .coolingDown(retryAfter: 200), "the longest wait")
      try await expect(
        storage.decide("a5", Sample.decision(.denied, at: 1190), limits), is: .decided, "denied")
      try await expect(make("a6", at: 1190), is: .coolingDown(retryAfter: 190), "after a denial")
      try await expect(storage.decide("a4", Sample.decision(at: 1190), limits), is: .decided, "accepted")
      for id in ["b1", "b2"] as [TransactionID] {
        try await expect(make(id, at: 1190), is: .added, "after an acceptance")
      }
      try await expect(
        storage.decide("b1", Sample.decision(.reported, at: 1200), limits), is: .decided, "reported")
      try await expect(make("b3", at: 1200), is: .coolingDown(retryAfter: 60), "after a report")
      try await expect(make("b3", at: 1260), is: .added, "after the wait for a report")
      _ = try await storage.unlockUser("alice", audit: event("unlocked"))
      try await expect(make("c1", at: 1260), is: .added, "after unlocking")
      let suspicious = try await storage.end(
        "c1", Sample.end(.cancelled, by: "c1", at: 1270), isSuspicious: true, limits: limits)
      try expect(suspicious, is: .decided, "a suspicious one, cancelled")
      try await expect(make("c2", at: 1270), is: .coolingDown(retryAfter: 60), "after a suspicion")
    },
    Check("a signing key takes the place of the one that is named, once") { storage in
      try await expect(
        storage.signingKeys(), is: SigningKeyRecords(all: [], isNew: true), "the keys of a new storage")
      let outcomes = try await race { number in
        try await storage.addSigningKey(Sample.signingKey("k\(number)"), replacing: nil, audit: event("key"))
      }
      try expect(outcomes.filter { $0 }.count, is: 1, "first keys")
      let first = try await storage.signingKeys().all
      try expect(first.count, is: 1, "keys")
      var next = Sample.signingKey("next", at: 2000)
      next.succession = "the word of the first"
      try await expect(
        storage.addSigningKey(next, replacing: "other", audit: event("key")), is: false, "in another's place")
      try await expect(
        storage.addSigningKey(next, replacing: first[0].id, audit: event("key")), is: true, "in its place")
      var retired = first[0]
      retired.retired = 2000
      try await expect(
        storage.signingKeys(), is: SigningKeyRecords(all: [retired, next], isNew: false), "both keys")
      let early = Sample.signingKey("early", at: 500)
      try await expect(
        storage.addSigningKey(early, replacing: next.id, audit: event("key")), is: true,
        "by a clock that was set back")
      try await expect(storage.signingKeys().all.map(\.id).last, is: "early", "the one that signs")
    },
    Check("a storage without a signing key is not new where the audit log names one") { storage in
      let added = AuditEvent.signingKeyAdded(key: "k", after: nil)
      try await storage.append(event("\"event\":\"signingKey.added\""))
      try await expect(storage.signingKeys().isNew, is: true, "after another event")
      try await storage.append(AuditRecord(added, by: .server, at: 1000))
      try await expect(
        storage.signingKeys(), is: SigningKeyRecords(all: [], isNew: false), "after the key's event")
    },
    Check("a storage without a signing key is not new where a container is in use") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a"))
      _ = try await storage.finish("a", Sample.container("c", activation: "a"))
      try await expect(storage.signingKeys().isNew, is: true, "while it waits for its device")
      _ = try await storage.confirm("c")
      try await expect(
        storage.signingKeys(), is: SigningKeyRecords(all: [], isNew: false), "once it is in use")
    },
  ]
}

extension Sample {
  static func end(
    _ state: TransactionRecord.State, by container: ContainerID? = nil, at time: Int64 = 1100
  ) -> EndRecord {
    EndRecord(state: state, reason: "why", message: "more", container: container, time: time)
  }

  static func signingKey(_ id: String, at time: Int64 = 1000) -> SigningKeyRecord {
    SigningKeyRecord(id: id, sealed: [1, 2], publicKey: [4, 9], created: time)
  }
}

extension Storage {
  fileprivate func answer(
    _ id: TransactionID, by container: ContainerID?, key: ID<APIKeyRecord>?
  ) async throws(StorageFailure) -> DecisionOutcome {
    try await answerTransaction(
      id, AnswerAttempt(container: container, key: key, time: 1100), attempts: 3,
      waits: { _ in (nil, WaitRecord(failures: 1, until: 0, expires: 0)) }
    ) { StorageContract.event("answer \($0)") }
  }

  func make(
    _ transaction: TransactionRecord, _ limits: TransactionLimits, key: ID<APIKeyRecord>? = nil
  ) async throws -> AdmissionOutcome {
    try await addTransaction(transaction, key: key, limits: limits) { StorageContract.event("made \($0)") }
  }
}
