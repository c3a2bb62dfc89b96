import SignetStorage

extension StorageContract {
  private static func client(
    _ id: ID<ClientRecord>, _ delivery: ClientRecord.Delivery = .poll, created: Int64 = 5
  ) -> ClientRecord {
    var client = ClientRecord(
      id: id, name: "Bänk", authentication: .privateKeyJWT, delivery: delivery, created: created)
    client.keySet = [1, 2]
    (client.requestAlgorithm, client.numberDigits) = ("ES256", 4)
    if delivery != .poll { client.notificationEndpoint = "https://a.example/cb" }
    return client
  }

  private static func request(
    _ transaction: TransactionID, of client: ID<ClientRecord> = "c", _ delivery: ClientRecord.Delivery = .poll
  ) -> BackchannelRecord {
    BackchannelRecord(
      digest: Array(transaction.text.utf8), transaction: transaction, client: client, delivery: delivery,
      expires: 1_330, sealedNotice: delivery == .poll ? nil : [9], interval: 5)
  }

  /// Prepares a request of the client `c`, whose transaction `t1` alice's container `c1` has accepted.
  private static func decided(_ storage: Storage) async throws {
    try await storage.add(Sample.alice)
    try await storage.activate("c1")
    try await storage.addClient(client("c"), audit: event("client"))
    _ = try await storage.ask("t1", request("t1"))
    try await expect(storage.decide("t1", Sample.decision()), is: .decided, "the decision")
  }

  static let clients: [Check] = [
    Check("a client is found as added, and revoked once for all") { storage in
      var (first, second) = (client("c1", created: 5), client("c0", .push, created: 6))
      second.authentication = .clientSecretBasic
      (second.keySet, second.secretDigest) = (nil, [7])
      (second.requestAlgorithm, second.numberDigits) = (nil, nil)
      try await storage.addClient(first, audit: event("client"))
      try await storage.addClient(second, audit: event("client"))
      try await expect(storage.client("c1"), is: first, "the client")
      try await expect(storage.client("c0"), is: second, "the other")
      try await expect(storage.client("x"), is: nil, "a client that is none")
      try await expect(storage.clients(), is: [first, second], "clients, oldest first")
      try await expect(.exists, "a second c1") { try await storage.addClient(first, audit: event("client")) }
      for time in [9, 50] {
        try await expect(
          storage.revoke("c1", at: Int64(time)), is: true, "revoke")
      }
      try await expect(storage.revoke("x"), is: false, "of nothing")
      first.revoked = 9
      try await expect(storage.client("c1"), is: first, "the revoked client")
      try await expectLog(storage, has: ["client", "client", "revoked", "revoked"])
    },
    Check("a user's code is set, counted and unlocked") { storage in
      try await storage.add(Sample.alice)
      try await expect(storage.setUserCode([5], of: "bob", audit: event("code")), is: false, "of nobody")
      try await expect(storage.setUserCode([5], of: "alice", audit: event("code")), is: true, "of alice")
      try await expect(storage.user("alice")?.codeDigest, is: [5], "the digest")
      @Sendable func attempt(_ client: UInt8, _ isRight: Bool) async throws -> CodeOutcome? {
        try await storage.tryUserCode(OTPSubject(user: "alice", client: [client])) { digest, wait in
          guard digest == [5] else { return OTPResult(.refused, wait: wait, audit: event("another")) }
          let failures = wait?.failures ?? 0
          guard failures < 3 else { return OTPResult(.locked, wait: wait, audit: event("locked")) }
          return isRight
            ? OTPResult(.accepted, wait: nil, audit: event("accepted"))
            : OTPResult(
              .refused, wait: WaitRecord(failures: failures + 1, until: 5, expires: 100),
              audit: event("refused"))
        }
      }
      for isRight in [false, false, true, false, false, false] {
        try await expect(attempt(1, isRight), is: isRight ? .accepted : .refused, "before the limit")
      }
      try await expect(attempt(1, true), is: .locked, "a right one at the limit")
      try await expect(attempt(2, true), is: .accepted, "another client's")
      _ = try await storage.unlockUser("alice", audit: event("unlock"))
      try await expect(attempt(1, true), is: .accepted, "after an unlock")
      let outcomes = try await race { _ in try await attempt(1, false) }
      try expect(outcomes.count { $0 == .refused }, is: 3, "refused, of 50 wrong ones at once")
      _ = try await storage.setUserCode(nil, of: "alice", audit: event("code"))
      try await expect(storage.user("alice")?.codeDigest, is: nil, "the digest")
      let entries = try await log(of: storage).count
      try await expect(attempt(1, false), is: nil, "after it was taken away")
      try await expect(.unknown, "a code of nobody") {
        try await storage.tryUserCode(OTPSubject(user: "bob", client: [1])) {
          OTPResult(.refused, wait: $1, audit: event("of nobody"))
        }
      }
      try await expect(log(of: storage).count, is: entries, "entries of codes that there are not")
      for (digest, outcome) in [([6], .refused), ([5], .accepted)] as [([UInt8], CodeOutcome)] {
        _ = try await storage.setUserCode(digest, of: "alice", audit: event("code"))
        try await expect(attempt(1, true), is: outcome, "with the code \(digest)")
      }
      try await expect(
        log(of: storage).count { $0 == event("locked").text }, is: 48, "events of what was not tried")
    },
  ]

  static let backchannel: [Check] = [
    Check("a request comes with its transaction, or not at all") { storage in
      try await storage.add(Sample.alice)
      try await storage.addClient(client("c"), audit: event("client"))
      try await expect(storage.ask("t1", request("t1")), is: .added, "the request")
      try await expect(
        storage.ask("t2", request("t2"), TransactionLimits(pending: 1)), is: .tooManyPending(retryAfter: 300),
        "one too many")
      try await expect(.unknown, "one of nobody") { try await storage.ask("t3", request("t3", of: "x")) }
      try await expect(.exists, "a second t1") { try await storage.ask("t1", request("t1")) }
      for id in ["t2", "t3"] as [TransactionID] {
        try await expect(storage.transaction(id), is: nil, "\(id)")
      }
      try await expect(storage.poll("t2"), is: .unknown, "what was not added")
      try await expect(storage.poll("t1", of: "d"), is: .unknown, "another's")
      try await expectLog(storage, has: ["user", "client", "added", "tooManyPending(retryAfter: 300)"])
    },
    Check("polls that come too soon lengthen the interval, to a limit") { storage in
      try await storage.add(Sample.alice)
      try await storage.addClient(client("c"), audit: event("client"))
      _ = try await storage.ask("t1", request("t1"))
      let expected: [(Int64, PollOutcome)] = [
        (1_000, .pending), (1_005, .pending), (1_008, .tooSoon(interval: 10)), (1_017, .pending),
        (1_018, .tooSoon(interval: 12)), (1_019, .tooSoon(interval: 12)), (1_010, .pending),
        (1_299, .pending), (1_300, .expired),
      ]
      for (time, outcome) in expected {
        try await expect(storage.poll("t1", at: time), is: outcome, "at \(time)")
      }
      // Setting the clock back must not change the answer.
      try await expect(storage.poll("t1", at: 1_200), is: .expired, "after it has expired")
      try await expect(log(of: storage).last, is: expiry(of: "t1", at: 1_300), "the audit log")
    },
    Check("who asks too late for an end is not given it, also where the clock is set back") { storage in
      try await decided(storage)
      for time in [1_330, 1_200] as [Int64] {
        try await expect(storage.poll("t1", at: time), is: .expired, "at \(time)")
      }
      let digest = request("t1").digest
      try await expect(
        storage.issueTokens(for: digest, of: "c", at: 1_200, pushedWithin: 60, audit: event("issued")),
        is: false, "tokens")
    },
    Check("an end is found by who asks for it in time, and tokens are given out once") { storage in
      try await decided(storage)
      guard case .ended(let request, let transaction) = try await storage.poll("t1", at: 1_329) else {
        throw Failure(description: "the end is not found")
      }
      try expect(request, is: StorageContract.request("t1"), "the request")
      try expect(transaction.state, is: .accepted, "the transaction")
      try await expect(
        storage.issueTokens(
          for: request.digest, of: "d", at: 1_200, pushedWithin: 60, audit: event("issued")), is: false,
        "another's")
      let issued = try await race { _ in
        try await storage.issueTokens(
          for: request.digest, of: "c", at: 1_200, pushedWithin: 60, audit: event("issued"))
      }
      try expect(issued.filter { $0 }.count, is: 1, "tokens given out, of 50 who ask")
      try await expect(storage.poll("t1", at: 1_200), is: .used, "after that")
      _ = try await storage.sweep(at: 1_330 + 86_400) { event("expired \($0)") }
      try await expect(storage.poll("t1", at: 1_200), is: .unknown, "a day after its end")
    },
    Check("an end is in the outbox in the same step, for a client that is told; none holds up another") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for (id, delivery) in [("c", ClientRecord.Delivery.poll), ("d", .ping), ("e", .push)] {
        try await storage.addClient(client("\(id)", delivery), audit: event("client"))
        _ = try await storage.ask("t-\(id)", request("t-\(id)", of: "\(id)", delivery))
      }
      try await expect(storage.dueNotices(at: .max), is: [], "before the end")
      for id in ["t-c", "t-d"] as [TransactionID] { _ = try await storage.decide(id, Sample.decision()) }
      _ = try await storage.sweep(at: 1_300) { event("expired \($0)") }
      let due = try await storage.dueNotices(at: 1_300)
      try expect(due.map(\.event.subject), is: ["t-d", "t-e"], "due")
      try expect(due.map(\.event.kind), is: [.requestEnded, .requestEnded], "what happened")
      try expect(due.map(\.receiver.id), is: ["d", "e"], "who is told")
      try expect(due.map(\.created), is: [1_100, 1_300], "when they ended")
      try expect(
        due.map(\.expires), is: [1_100, 1_300].map { $0 + BackchannelRecord.noticeLifetime },
        "until when they are told")
      try await expect(
        storage.backchannelRequest(ofTransaction: "t-d"), is: request("t-d", of: "d", .ping), "the request")
      guard let leased = try await storage.leaseDelivery(due[0], until: 1_360) else {
        throw Failure(description: "the first is not leased")
      }
      _ = try await storage.ask("t-g", request("t-g", of: "d", .ping))
      _ = try await storage.decide("t-g", Sample.decision())
      try await expect(
        storage.dueNotices(at: 1_359).map(\.event.subject), is: ["t-g", "t-e"], "while it is leased")
      try await expect(
        storage.dueNotices(at: 1_360, limit: 1).map(\.event.subject), is: ["t-g", "t-e"], "one of each client"
      )
      try await expect(storage.endDelivery(leased, next: 1_310, audit: nil), is: true, "a try that failed")
      try await expect(
        storage.dueNotices(at: 1_310).map(\.event.subject), is: ["t-g", "t-e", "t-d"], "the next try")
      _ = try await storage.revoke("e")
      try await expect(
        storage.dueNotices(at: .max).map(\.receiver.id), is: ["d", "d"], "after a client was revoked")
      try await expect(
        storage.ask("t-f", request("t-f", of: "e", .push)), is: .clientRevoked,
        "a request of a revoked client")
      try await expect(storage.transaction("t-f"), is: nil, "its transaction")
      try await expect(
        storage.issueTokens(for: Array("t-e".utf8), of: "e", at: 9, pushedWithin: 60, audit: event("issued")),
        is: false,
        "tokens of a revoked client")
      try await expect(log(of: storage).suffix(1).map(\.self), is: [event("revoked").text], "log")
    },
    Check("what a revoked client has asked is withdrawn, and tokens are pushed soon or not at all") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for id in ["d", "e"] as [ID<ClientRecord>] {
        try await storage.addClient(client(id, .push), audit: event("client"))
        _ = try await storage.ask("t-\(id)", request("t-\(id)", of: id, .push))
      }
      try await expect(storage.revoke("d"), is: true, "revoke")
      try await expect(storage.transaction("t-d")?.state, is: .withdrawn, "what was pending")
      try await expect(storage.dueNotices(at: .max), is: [], "notices")
      try await expect(
        log(of: storage).suffix(2).map(\.self), is: [event("revoked").text, event("withdrawn t-d").text],
        "log")
      _ = try await storage.decide("t-e", Sample.decision())
      let decided = try await storage.transaction("t-e")?.decision?.time ?? 0
      _ = try await storage.revokeContainer("c1")
      try await expect(
        storage.issueTokens(
          for: Array("t-e".utf8), of: "e", at: decided, pushedWithin: 60, audit: event("issued")), is: false,
        "tokens for a device that was revoked")
      try await storage.activate("c3")
      for (time, isTaken) in [(decided + 61, false), (decided + 60, true)] {
        try await expect(
          storage.issueTokens(
            for: Array("t-e".utf8), of: "e", at: time, pushedWithin: 60, audit: event("issued")),
          is: isTaken, "at \(time)")
      }
      _ = try await storage.sweep(at: 1_400 + 86_400) { event("expired \($0)") }
      try await expect(storage.dueNotices(at: .max), is: [], "a day later")
    },
  ]
}

extension Storage {
  fileprivate func ask(
    _ id: TransactionID, _ request: BackchannelRecord, _ limits: TransactionLimits = Sample.limits
  ) async throws -> AdmissionOutcome {
    try await addBackchannelRequest(request, asking: Sample.transaction(id), limits: limits) {
      StorageContract.event("\($0)")
    }
  }

  fileprivate func dueNotices(at time: Int64, limit: Int = 9) async throws -> [OutboxRecord] {
    try await dueDeliveries(on: .ciba, at: time, limitPerReceiver: limit)
  }

  fileprivate func revoke(_ id: ID<ClientRecord>, at time: Int64 = 9) async throws -> Bool {
    try await revokeClient(id, at: time, audit: StorageContract.event("revoked")) {
      StorageContract.event("withdrawn \($0)")
    }
  }

  fileprivate func poll(
    _ id: String, of client: ID<ClientRecord> = "c", at time: Int64 = 1_100
  ) async throws -> PollOutcome {
    try await pollBackchannelRequest(Array(id.utf8), of: client, at: time, step: 5, limit: 12)
  }
}
