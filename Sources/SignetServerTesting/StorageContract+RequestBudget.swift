import SignetStorage

extension StorageContract {
  /// A way to ask alice, who has a container `c1`, a UAF key with a target `d1`, and an app `m1`.
  private struct RequestKind: Sendable {
    let name: String
    let ask:
      @Sendable (Storage, _ id: String, _ requester: String, TransactionLimits) async throws ->
        AdmissionOutcome
    /// Accepts the request as alice.
    let accept: @Sendable (Storage, _ id: TransactionID) async throws -> Bool
  }

  /// All ways: add each new step that asks a user.
  private static let requestKinds: [RequestKind] = [
    RequestKind(name: "a transaction") { storage, id, requester, limits in
      try await storage.addTransaction(
        Sample.transaction("\(id)", by: requester), key: nil, limits: limits
      ) { event("\($0)") }
    } accept: { storage, id in
      try await storage.decide(id, Sample.decision(at: 1050)) == .decided
    },
    RequestKind(name: "a request of a client") { storage, id, requester, limits in
      let request = BackchannelRecord(
        digest: Array(id.utf8), transaction: "\(id)", client: "c", delivery: .poll, expires: 1330, interval: 5
      )
      return try await storage.addBackchannelRequest(
        request, asking: Sample.transaction("\(id)", by: requester), limits: limits
      ) { event("\($0)") }
    } accept: { storage, id in
      try await storage.decide(id, Sample.decision(at: 1050)) == .decided
    },
    RequestKind(name: "a push message") { storage, id, requester, limits in
      try await storage.ask(
        Sample.message("\(id)", to: "m1", expires: 1300), of: "alice", by: requester, limits: limits)
    } accept: { storage, id in
      try await storage.answerPushAuthMessage("\(id)", .yes, at: 1050, audit: event("yes")) == .accepted
    },
    RequestKind(name: "a UAF authentication on a device") { storage, id, requester, limits in
      try await storage.dispatch(Sample.dispatched("\(id)", "Auth", by: requester), limits)
    } accept: { storage, id in
      try await storage.logIn("\(id)") == .accepted
    },
    RequestKind(name: "a UAF registration on a device") { storage, id, requester, limits in
      try await storage.dispatch(Sample.dispatched("\(id)", "Reg", by: requester), limits)
    } accept: { storage, id in
      _ = try await storage.redeem("\(id)")
      let key = UAFCredentialRecord(
        aaid: "7357#0001", keyID: Array(id.text.utf8), user: "alice", publicKey: [4] + id.text.utf8,
        algorithm: 1,
        keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
      return try await storage.finishUAFRegistration(
        "\(id)", UAFOperationEnd(status: 1200, time: 1050), adding: [key.new], limit: 99
      ) { event("\($0)") } == .accepted
    },
  ]

  private static func prepare(_ storage: Storage) async throws {
    try await storage.add(Sample.alice)
    try await storage.activate("c1")
    try await expect(storage.register("k1", of: "alice", on: nil), is: .accepted, "a key")
    try await expect(storage.addTarget("d1", of: "alice", on: nil), is: true, "a target")
    let app = PushAuthMechanismRecord(
      id: "m1", user: "alice", sealedSecret: [1], challenge: [2], created: 1000, expires: 1900)
    try await storage.addPushAuthMechanism(app, with: nil, audit: event("app"))
    _ = try await storage.registerPushAuthMechanism(
      "m1", named: "app", sealedDevice: [5], at: 1001, audit: event("registered"))
    try await storage.addClient(
      ClientRecord(id: "c", name: "Bank", authentication: .privateKeyJWT, delivery: .poll, created: 5),
      audit: event("client"))
  }

  private static func ask(
    _ storage: Storage, _ id: TransactionID, by requester: String, at time: Int64, _ limits: TransactionLimits
  ) async throws -> AdmissionOutcome {
    try await storage.addTransaction(
      Sample.transaction(id, by: requester, at: time), key: nil, limits: limits
    ) { event("\($0)") }
  }

  /// The checks of the limits on requests to a user, for all requesters and for each.
  static let requestBudget: [Check] =
    requestKinds.map { kind in
      Check("\(kind.name) counts with requests of all kinds, and its acceptance ends the row") { storage in
        try await prepare(storage)
        let row = TransactionLimits(pending: 1000, challenges: 1)
        let waiting = TransactionLimits(pending: 1, challenges: 1000)
        for (number, other) in requestKinds.enumerated() {
          let (first, second) = ("a\(number)", "b\(number)")
          try await expect(kind.ask(storage, first, "key:a", row), is: .added, "the first")
          try await expect(
            other.ask(storage, "x\(number)", "key:b", row), is: .coolingDown(retryAfter: 60),
            "\(other.name) after it")
          try await expect(kind.accept(storage, "\(first)"), is: true, "its acceptance")
          try await expect(kind.ask(storage, second, "key:a", waiting), is: .added, "the second")
          try await expect(
            other.ask(storage, "x\(number)", "key:b", waiting), is: .tooManyPending(retryAfter: 300),
            "\(other.name) beside it")
          try await expect(kind.accept(storage, "\(second)"), is: true, "its acceptance")
        }
        try await expect(
          storage.transactions(TransactionFilter(state: .pending), before: nil, at: 1050, limit: 9).isEmpty,
          is: true, "what was refused")
      }
    } + [
      Check("what waits for a user is listed whatever asks it, and whoever") { storage in
        try await prepare(storage)
        let limits = TransactionLimits(pending: 1000, challenges: 1000)
        for (number, kind) in requestKinds.enumerated() {
          try await expect(kind.ask(storage, "a\(number)", "key:\(number)", limits), is: .added, kind.name)
        }
        let open = try await storage.openRequests(to: "alice", at: 1050, limit: 9)
        try expect(Set(open.map(\.id)), is: Set(requestKinds.indices.map { "a\($0)" }), "what is asked")
        try expect(open.map(\.id), is: open.map(\.id).sorted(by: >), "in the order of their making")
        try expect(Set(open.map(\.kind)), is: Set(OpenRequestRecord.Kind.allCases), "by what")
        for (number, kind) in requestKinds.enumerated() {
          let one = open.first { $0.id == "a\(number)" }
          try expect(one?.requester, is: "key:\(number)", "who asks by \(kind.name)")
        }
        try await expect(
          storage.openRequests(to: "alice", at: 1050, limit: 2).count, is: 2, "so many at most")
        try await expect(
          storage.openRequests(to: "alice", at: 9000, limit: 9), is: [], "when the time is over")
        try await expect(storage.openRequests(to: "bob", at: 1050, limit: 9), is: [], "of somebody else")
        for (number, kind) in requestKinds.enumerated() {
          try await expect(kind.accept(storage, "a\(number)"), is: true, "the end of \(kind.name)")
        }
        try await expect(storage.openRequests(to: "alice", at: 1050, limit: 9), is: [], "what was answered")
      },
      Check("a UAF operation counts where it asks the user on a device, and was not counted as a transaction")
      {
        storage in
        try await prepare(storage)
        let limits = TransactionLimits(pending: 3, challenges: 1000)
        @Sendable func dispatch(
          _ id: ID<UAFOperationRecord>, _ operation: String = "Auth", to target: ID<UAFTargetRecord>? = "d1",
          for transaction: TransactionID? = nil
        ) async throws -> AdmissionOutcome {
          var session = Sample.dispatched(id, operation, by: "key:a")
          (session.target, session.transaction) = (target, transaction)
          return try await storage.dispatch(session, limits)
        }
        try await expect(ask(storage, "t", by: "key:a", at: 1000, limits), is: .added, "a transaction")
        try await expect(dispatch("t1", for: "t"), is: .added, "its operation")
        try await expect(dispatch("t2", to: "d2", for: "t"), is: .added, "that for another device")
        for number in 0..<4 {
          try await expect(dispatch("r\(number)", "Dereg"), is: .added, "what removes keys")
          try await expect(dispatch("n\(number)", to: nil), is: .added, "a token that reaches no device")
        }
        try await expect(storage.uafOperation("t1")?.requester, is: nil, "who has asked by it")
        try await expect(dispatch("t3", for: "t"), is: .added, "the same device once more")
        try await expect(storage.uafOperation("t3")?.requester, is: "key:a", "who has asked again")
        try await expect(
          dispatch("t4", for: "t"), is: .tooManyPending(retryAfter: 300), "and once more")
        try await expect(storage.uafOperation("t4"), is: nil, "what was refused")
        try await expect(storage.decide("t", Sample.decision(at: 1050)), is: .decided, "the end of them all")
        var anybodys = Sample.transaction("n", by: "key:a")
        anybodys.user = nil
        try await storage.addTransaction(anybodys, audit: event("transaction"))
        for id in ["u1", "u2"] as [ID<UAFTargetRecord>] {
          _ = try await storage.addTarget(id, of: "alice")
          try await expect(
            dispatch("\(id)", to: id, for: "n"), is: .added, "one for anybody, to alice's device")
        }
        try await expect(
          dispatch("u3", to: "u3", for: "n"), is: .tooManyPending(retryAfter: 300), "and a third")
        // It counts until it can no longer be answered; so does a request on its way.
        try await expect(storage.redeem("u1"), is: true, "a token")
        try await expect(dispatch("v"), is: .tooManyPending(retryAfter: 170), "beside the request")
      },
      Check("of what waits for a user a requester has half, rounded up, and the others have the rest") {
        storage in
        try await storage.add(Sample.alice)
        let limits = TransactionLimits(pending: 5, challenges: 1000)
        for id in ["a1", "a2", "a3"] as [TransactionID] {
          try await expect(ask(storage, id, by: "key:a", at: 1000, limits), is: .added, "\(id)")
        }
        try await expect(
          ask(storage, "a4", by: "key:a", at: 1100, limits), is: .tooManyPending(retryAfter: 200),
          "beyond its share")
        for id in ["b1", "b2"] as [TransactionID] {
          try await expect(ask(storage, id, by: "key:b", at: 1100, limits), is: .added, "\(id)")
        }
        try await expect(
          ask(storage, "b3", by: "key:b", at: 1100, limits), is: .tooManyPending(retryAfter: 200),
          "beyond what is left")
        try await expect(
          ask(storage, "b3", by: "key:b", at: 1300, limits), is: .added, "once others have ended")
        try await expect(
          ask(storage, "b4", by: "key:b", at: 1300, limits), is: .tooManyPending(retryAfter: 100),
          "what ends first of its own")
      },
      Check("who asks in vain beyond its share waits alone, until others have used up the rest") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        let limits = TransactionLimits(pending: 1000, challenges: 4, wait: 60, longestWait: 200)
        for id in ["a1", "a2"] as [TransactionID] {
          try await expect(ask(storage, id, by: "key:a", at: 1000, limits), is: .added, "\(id)")
        }
        for (id, time, wait) in [("a3", 1060, 120), ("a4", 1180, 200), ("a5", 1380, 200)]
          as [(String, Int64, Int64)]
        {
          try await expect(
            ask(storage, "\(id)", by: "key:a", at: time - 1, limits), is: .coolingDown(retryAfter: 1),
            "\(id) too soon")
          try await expect(ask(storage, "\(id)", by: "key:a", at: time, limits), is: .added, id)
          try await expect(
            ask(storage, "x", by: "key:a", at: time, limits), is: .coolingDown(retryAfter: wait),
            "after \(id)")
        }
        // Five failed attempts, and the other requesters keep their share.
        for id in ["b1", "c1"] as [TransactionID] {
          try await expect(ask(storage, id, by: "key:\(id)", at: 1380, limits), is: .added, "\(id)")
        }
        for requester in ["key:b1", "key:d"] {
          try await expect(
            ask(storage, "x", by: requester, at: 1380, limits), is: .coolingDown(retryAfter: 60),
            "\(requester), after all is used up")
        }
        // From here on all requesters share one row: more requesters do not get more requests.
        try await expect(ask(storage, "a6", by: "key:a", at: 1580, limits), is: .added, "a6")
        try await expect(
          ask(storage, "x", by: "key:d", at: 1580, limits), is: .coolingDown(retryAfter: 120), "after a6")
        try await expect(storage.decide("a6", Sample.decision(at: 1590)), is: .decided, "accepted")
        for id in ["a7", "a8", "d1", "d2"] as [TransactionID] {
          try await expect(
            ask(storage, id, by: "key:\(id.text.prefix(1))", at: 1590, limits), is: .added,
            "\(id), in a new row")
        }
        _ = try await storage.unlockUser("alice", audit: event("unlocked"))
        for id in ["a9", "e1", "e2"] as [TransactionID] {
          try await expect(
            ask(storage, id, by: "key:\(id.text.prefix(1))", at: 1590, limits), is: .added,
            "\(id), after unlocking")
        }
      },
      Check("after a report nobody asks for a while, and who had asked waits longer each time") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        let limits = TransactionLimits(pending: 1000, challenges: 10, wait: 60, longestWait: 1000)
        try await expect(ask(storage, "a1", by: "key:a", at: 1000, limits), is: .added, "a1")
        try await expect(
          storage.decide("a1", Sample.decision(.reported, at: 1010), limits), is: .decided, "reported")
        for requester in ["key:a", "key:b"] {
          try await expect(
            ask(storage, "x", by: requester, at: 1010, limits), is: .coolingDown(retryAfter: 60), requester)
        }
        try await expect(ask(storage, "a2", by: "key:a", at: 1070, limits), is: .added, "a2")
        try await expect(
          ask(storage, "x", by: "key:a", at: 1070, limits), is: .coolingDown(retryAfter: 120), "after a2")
        for id in ["b1", "b2"] as [TransactionID] {
          try await expect(ask(storage, id, by: "key:b", at: 1070, limits), is: .added, "\(id)")
        }
        // A request for any user counts for none, until its answer names the user.
        var anybodys = Sample.transaction("n", by: "key:c")
        anybodys.user = nil
        try await storage.addTransaction(anybodys, audit: event("transaction"))
        try await expect(
          storage.decide("n", Sample.decision(.reported, at: 1080), limits), is: .decided, "reported")
        try await expect(ask(storage, "b3", by: "key:b", at: 1140, limits), is: .added, "b3")
        try await expect(ask(storage, "c1", by: "key:c", at: 1140, limits), is: .added, "c1")
        try await expect(
          ask(storage, "x", by: "key:c", at: 1140, limits), is: .coolingDown(retryAfter: 120), "after c1")
      },
      Check("50 requests of all kinds at once: as many as the limit, and of each requester its share") {
        storage in
        try await prepare(storage)
        let limits = TransactionLimits(pending: 7, challenges: 1000)
        let outcomes = try await race { number in
          let requester = "key:\(number % 3)"
          return (
            requester,
            try await requestKinds[number % requestKinds.count].ask(storage, "r\(number)", requester, limits)
          )
        }
        let added = outcomes.filter { $0.1 == .added }
        try expect(added.count, is: 7, "requests that were made")
        for requester in Set(outcomes.map(\.0)) {
          try expect(added.count { $0.0 == requester } <= 4, "half of them, rounded up, by \(requester)")
        }
      },
    ]
}

extension Sample {
  fileprivate static func transaction(
    _ id: TransactionID, by requester: String, at time: Int64 = 1000
  ) -> TransactionRecord {
    var transaction = transaction(id, created: time)
    transaction.requester = requester
    return transaction
  }

  /// Returns an operation whose token goes to the target `d1` of alice.
  fileprivate static func dispatched(_ id: ID<UAFOperationRecord>, _ operation: String, by requester: String)
    -> UAFOperationRecord
  {
    var session = session(id, operation, of: "alice")
    (session.state, session.request, session.target) = (.tokenCreated, nil, "d1")
    (session.tokenDigest, session.tokenExpires, session.expires) = (Array(id.text.utf8), 1300, 1300)
    session.requester = requester
    return session
  }
}

extension Storage {
  fileprivate func dispatch(
    _ session: UAFOperationRecord, _ limits: TransactionLimits
  ) async throws -> AdmissionOutcome {
    try await addUAFOperation(session, limits: limits) { StorageContract.event("\($0)") }
  }

  /// Redeems a token, and answers with alice's key.
  fileprivate func logIn(_ id: ID<UAFOperationRecord>) async throws -> UAFOutcome {
    _ = try await redeem("\(id)")
    return try await finishUAFAuthentication(
      id, of: "alice", UAFOperationEnd(status: 1200, time: 1050),
      uses: [CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 0)]
    ) { StorageContract.event("\($0)") }
  }
}
