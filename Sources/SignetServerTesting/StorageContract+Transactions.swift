import SignetStorage

extension StorageContract {
  static let transactions: [Check] = [
    Check("a transaction is found as added, and needs a user") { storage in
      try await storage.add(Sample.alice)
      let transaction = Sample.transaction("t1")
      try await storage.addTransaction(transaction, audit: event("transaction"))
      try await expect(storage.transaction("t1"), is: transaction, "the transaction")
      try await expect(storage.transaction("t2"), is: nil, "a transaction that is none")
      try await expect(.exists, "a second t1") {
        try await storage.addTransaction(transaction, audit: event("transaction"))
      }
      try await expect(.unknown, "a transaction for nobody") {
        try await storage.addTransaction(Sample.transaction("t2", user: "bob"), audit: event("transaction"))
      }
      try await expectLog(storage, has: ["user", "transaction"])
    },
    Check("transactions are listed from the last one on, by user and by state, page by page") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      for number in 1...5 {
        // Created in this order, regardless of their times.
        let user: UserID = number.isMultiple(of: 2) ? "bob" : "alice"
        try await storage.addTransaction(
          Sample.transaction("t\(number)", user: user, created: 1000 - Int64(number)),
          audit: event("transaction"))
      }
      try await expect(storage.decide("t3", Sample.decision()), is: .decided, "a decision")
      func ids(
        _ user: UserID?, _ state: TransactionRecord.State?, before id: TransactionID? = nil,
        at time: Int64 = 1000,
        limit: Int = 10
      ) async throws -> [TransactionID] {
        try await storage.transactions(
          TransactionFilter(user: user, state: state), before: id, at: time, limit: limit
        ).map(\.id)
      }
      try await expect(ids(nil, nil), is: ["t5", "t4", "t3", "t2", "t1"], "all")
      try await expect(ids(nil, nil, limit: 2), is: ["t5", "t4"], "the last two")
      try await expect(ids(nil, nil, before: "t4", limit: 2), is: ["t3", "t2"], "the two before")
      try await expect(ids(nil, nil, before: "none", limit: 1), is: ["t5"], "before one that is none")
      try await expect(ids("alice", nil), is: ["t5", "t3", "t1"], "alice's")
      try await expect(ids("alice", .accepted), is: ["t3"], "what alice accepted")
      try await expect(ids("bob", .accepted), is: [], "what bob accepted")
      try await expect(ids(nil, .pending), is: ["t5", "t4", "t2", "t1"], "what waits")
      try await expect(ids(nil, .expired), is: [], "what has expired")
      // After its end, even if no sweep has run yet.
      try await expect(ids(nil, .pending, at: 1 << 40), is: [], "what waits, later")
      try await expect(ids("bob", .expired, at: 1 << 40), is: ["t4", "t2"], "what has expired, later")
    },
    Check("pending transactions are those of the user that have not ended, oldest first, at most 64") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      for number in 0..<70 {
        let transaction = Sample.transaction("t\(number)", created: 1000 - Int64(number))
        try await storage.addTransaction(transaction, audit: event("transaction"))
      }
      try await storage.addTransaction(Sample.transaction("u", user: "bob"), audit: event("transaction"))
      func pending(_ time: Int64) async throws -> [String]? {
        try await storage.pendingTransactions(ofContainer: "c1", at: time)?.transactions.map(\.id.text)
      }
      try await expect(pending(1000), is: (6..<70).reversed().map { "t\($0)" }, "the oldest 64")
      try await expect(pending(1298), is: ["t1", "t0"], "those that end after 1298")
      try await expect(pending(1300), is: [], "at the last end")
    },
    Check("the first decision wins; the same again is a repetition") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      try await expect(storage.decide("t1", Sample.decision()), is: .decided, "the first decision")
      let entries = try await log(of: storage).count
      var again = Sample.decision(at: 5000)
      again.jws = "another signature"
      try await expect(storage.decide("t1", again), is: .repeated, "the same decision, after the end")
      try await expect(log(of: storage).count, is: entries, "entries for a repetition")
      try await expect(storage.decide("t1", Sample.decision(.denied)), is: .decidedBefore, "another status")
      try await expect(
        storage.decide("t1", Sample.decision(by: "c2")), is: .decidedBefore, "another container")
      let found = try await storage.transaction("t1")
      try expect(found?.state, is: .accepted, "the state")
      try expect(found?.decision, is: Sample.decision(), "the decision")
      try await expect(storage.pendingTransactions(user: "alice", at: 1100), is: [], "pending ones")
    },
    Check("nobody else decides: no other user, no pending or revoked container, nothing unknown") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.activate("b1", user: "bob")
      try await storage.add(Sample.activation("a2"))
      _ = try await storage.finish("a2", Sample.container("c2", activation: "a2", device: 9))
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      try await expect(
        storage.decide("t1", Sample.decision(by: "b1")), is: .unknown, "a decision by another user")
      for container in ["c2", "nothing"] as [ContainerID] {
        try await expect(
          storage.decide("t1", Sample.decision(by: container)), is: .signerChanged,
          "a decision by \(container)")
      }
      try await expect(storage.decide("t2", Sample.decision()), is: .unknown, "a decision about nothing")
      try await storage.activate("c3", device: 8)
      _ = try await storage.revokeContainer("c1")
      try await expect(
        storage.decide("t1", Sample.decision()), is: .signerChanged, "a decision by a revoked container")
      try await expect(storage.transaction("t1")?.state, is: .pending, "the state")
    },
    Check("a request decides once, and only where its signer is still who the caller took it for") {
      storage in
      let stored = try await storage.asked(["t1", "t2"])
      @Sendable func decide(
        _ id: TransactionID, request: UInt8, by signer: ContainerRecord,
        _ verdict: DecisionVerdict = .accept(Sample.decision(), isSigned: true, hasRightNumber: true)
      ) async throws -> DecisionOutcome {
        let attempt = DecisionAttempt(
          transaction: id, by: SignerRecord(signer), request: [UInt8](repeating: request, count: 16),
          expires: 5000)
        return try await storage.decide(attempt, verdict)
      }
      var (otherSession, otherSigning) = (stored, stored)
      (otherSession.sessionKey, otherSigning.signingKey) = ([4, 9], [4, 9])
      for other in [otherSession, otherSigning] {
        try await expect(decide("t1", request: 1, by: other), is: .signerChanged, "a key that is not its own")
      }
      // The attempt was not evaluated, so the request's ID is still unused.
      try await expect(decide("t1", request: 1, by: stored), is: .decided, "its own keys")
      try await expect(decide("t2", request: 1, by: stored), is: .replayed, "the request once more")
      try await expect(
        decide("t2", request: 2, by: stored, .mismatch(reason: "why")), is: .mismatch(reason: "why"),
        "a decision about something else")
      try await expect(storage.transaction("t2")?.state, is: .pending, "the state")
      try await expect(decide("t2", request: 2, by: stored), is: .replayed, "the same request, mended")
      let outcomes = try await race { _ in try await decide("t2", request: 3, by: stored) }
      try expect(outcomes.filter { $0 == .decided }.count, is: 1, "decisions of 50 requests of one id")
      try expect(outcomes.filter { $0 == .replayed }.count, is: 49, "replays")
    },
    Check(
      "from its end on a transaction can't be decided, swept or not, and not by a clock that is set back either"
    ) { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      try await storage.addTransaction(Sample.transaction("t2", created: 1001), audit: event("transaction"))
      try await storage.addTransaction(Sample.transaction("t3"), audit: event("transaction"))
      try await expect(storage.decide("t1", Sample.decision(at: 1300)), is: .expired, "a decision at the end")
      try await expect(storage.transaction("t1")?.state, is: .expired, "what it was told")
      try await expect(storage.decide("t1", Sample.decision(at: 1240)), is: .expired, "a minute before")
      try await expect(storage.sweep(at: 1300) { event("expired \($0)") }, is: 1, "transactions that ended")
      try await expect(storage.sweep(at: 1300) { event("expired \($0)") }, is: 0, "a second sweep")
      try await expect(storage.transaction("t3")?.state, is: .expired, "the state")
      try await expect(
        storage.decide("t3", Sample.decision(at: 1200)), is: .expired, "a decision about a swept one")
      try await expect(storage.decide("t2", Sample.decision(at: 1300)), is: .decided, "the last second")
      let last = try await log(of: storage).suffix(6)
      let decisions = [
        "decision expired", "decision expired", "expired t3", "decision expired", "decision decided",
      ]
      try expect(
        Array(last), is: [expiry(of: "t1", at: 1300)] + decisions.map { event($0).text }, "the audit log")
    },
    Check("wrong signatures are counted for the container; at the limit nothing tells a right one") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      for id in ["t1", "t2", "t3"] as [TransactionID] {
        try await storage.addTransaction(Sample.transaction(id), audit: event("transaction"))
      }
      @Sendable func wrong(_ id: TransactionID) async throws -> DecisionOutcome {
        try await storage.decide(id, Sample.decision(), isSigned: false)
      }
      for _ in 0..<2 { try await expect(wrong("t1"), is: .notSigned, "a wrong signature") }
      try await expect(
        storage.decide("t1", Sample.decision()), is: .decided, "a right one, which begins anew")
      let outcomes = try await race { _ in try await wrong("t2") }
      try expect(
        outcomes.filter { $0 == .notSigned }.count, is: 3, "wrong ones that are tried, of 50 at once")
      try expect(outcomes.filter { $0 == .locked }.count, is: 47, "the rest")
      try await expect(storage.decide("t2", Sample.decision()), is: .locked, "a right one at the limit")
      try await expect(storage.transaction("t2")?.state, is: .pending, "the state")
      try await expect(
        storage.decide("t2", Sample.decision(by: "c2")), is: .decided, "another container's is not held up")
      _ = try await storage.unlockUser("alice", audit: event("unlocked"))
      try await expect(storage.decide("t3", Sample.decision()), is: .decided, "a right one after unlocking")
    },
    Check("50 decisions at once: one stands") { storage in
      try await storage.add(Sample.alice)
      for number in 0..<10 { try await storage.activate("c\(number)", device: UInt8(number)) }
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      let outcomes = try await race { number in
        let state: TransactionRecord.State = number % 2 == 0 ? .accepted : .denied
        return try await storage.decide("t1", Sample.decision(state, by: "c\(number % 10)"))
      }
      try expect(outcomes.filter { $0 == .decided }.count, is: 1, "decisions that stand")
      try expect(outcomes.filter { $0 == .repeated }.count, is: 4, "repetitions by the one that decided")
    },
  ]
}
