import SignetStorage

extension StorageContract {
  private static let keyID = [UInt8](repeating: 1, count: 32)

  private static func credential(_ aaid: String = "7357#0001") -> UAFCredentialRecord {
    UAFCredentialRecord(
      aaid: aaid, keyID: keyID, user: "alice", publicKey: [4, 1], algorithm: 1, keyFormat: 0x100,
      signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
  }

  private static func addKey(_ storage: Storage) async throws {
    let registration = UAFOperationRecord(
      id: "registration", operation: "Reg", user: "alice", created: 1000, expires: 1100, state: .requested)
    try await storage.addUAFOperation(registration, audit: nil)
    try expect(
      await storage.finishUAFRegistration(
        "registration", UAFOperationEnd(status: 1200, time: 1050), adding: [credential().new], limit: 4
      ) { _ in event("key") }, is: .accepted, "the key")
  }

  private static func addTarget(_ storage: Storage) async throws {
    let target = UAFTargetRecord(
      id: "d1", user: "alice", device: nil, name: "Phone", dispatcher: "webhook", sealedTarget: [1],
      signatureKey: [4], encryptionKey: [4], created: 1000)
    try expect(
      await storage.addUAFTarget(target, limit: 4, audit: event("target")), is: true, "the target")
  }

  private static func addApp(_ storage: Storage) async throws {
    let mechanism = PushAuthMechanismRecord(
      id: "m1", user: "alice", sealedSecret: [1], challenge: [2], created: 1000, expires: 1900)
    try await storage.addPushAuthMechanism(mechanism, with: nil, audit: event("mechanism"))
    try expect(
      await storage.registerPushAuthMechanism(
        "m1", named: "app", sealedDevice: [5], at: 1001, audit: event("registered")), is: true, "the app")
  }

  /// Returns an operation and a message for a transaction, as the server makes them.
  private static func authenticatorRequests(_ id: TransactionID, keys: Bool = false)
    -> AuthenticatorRequestRecords
  {
    var session = UAFOperationRecord(
      id: "s-\(id)", operation: "Auth", user: "alice", context: "{}", created: 1000, expires: 1300,
      state: .tokenCreated)
    (session.transaction, session.target, session.dispatcher) = (id, "d1", "webhook")
    (session.tokenDigest, session.tokenExpires) = (Array(id.text.utf8), 1300)
    let message = PushAuthMessageRecord(
      id: "p-\(id)", of: id, mechanism: "m1", kind: "default", challenge: [3], created: 1000, expires: 1300)
    var authenticatorRequests = AuthenticatorRequestRecords()
    authenticatorRequests.sessions = [(session, event("operation of \(id)"))]
    authenticatorRequests.messages = [(message, event("message of \(id)"))]
    authenticatorRequests.mayAskUAFKeys = keys
    return authenticatorRequests
  }

  private static func authenticate(
    _ storage: Storage, _ id: String, evidence: EvidenceRecord? = nil, at time: Int64 = 1100
  ) async throws -> UAFOutcome {
    let keys = #"[{"aaid":"7357#0001","keyId":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"}]"#
    let end = UAFOperationEnd(status: 1200, authenticators: keys, time: time)
    return try await storage.finishUAFAuthentication(
      "s-\(id)", of: "alice", end, uses: [CounterUpdate(aaid: "7357#0001", keyID: keyID, signCounter: 0)],
      evidence: evidence
    ) { event("uaf \($0)") }
  }

  private static func answer(
    _ storage: Storage, _ id: String, _ decision: PushAppDecision,
    evidence: EvidenceRecord? = nil, at time: Int64 = 1100
  ) async throws -> Bool {
    let outcome = try await storage.answerPushAuthMessage(
      "p-\(id)", decision, evidence: evidence, at: time, audit: event("app \(id)"))
    return outcome == .accepted
  }

  /// Prepares alice with a container, a UAF key with a target, and an app, all of which are asked `t1` and `t2`.
  private static func prepare(_ storage: Storage) async throws {
    try await storage.add(Sample.alice)
    try await storage.activate("c1")
    try await addKey(storage)
    try await addTarget(storage)
    try await addApp(storage)
    for id in ["t1", "t2"] as [TransactionID] {
      try await expect(storage.ask(id, authenticatorRequests(id)), is: .added, "\(id)")
      try expect(
        await storage.redeemUAFToken(
          Array(id.text.utf8), request: [1], at: 1050, until: 1290, audit: event("redeemed")), is: true,
        "the token of \(id)")
    }
  }

  private static func client(_ storage: Storage, _ id: ID<ClientRecord>) async throws {
    try await storage.addClient(
      ClientRecord(id: id, name: "Bank", authentication: .privateKeyJWT, delivery: .poll, created: 5),
      audit: event("client"))
  }

  /// The checks of a request that any authenticator of the user can answer.
  static let asking: [Check] = [
    Check("a transaction is decided by an app of its own user only") { storage in
      try await prepare(storage)
      try await storage.add(Sample.bob)
      try await storage.activate("b1", user: "bob", device: 9)
      var transaction = Sample.transaction("b")
      transaction.user = "bob"
      // The message asks alice about a transaction of bob, which the server never does.
      let outcome = try await storage.addTransaction(
        transaction, key: nil, limits: Sample.limits, authenticatorRequests: authenticatorRequests("b")
      ) { _ in event("asked") }
      try expect(outcome, is: .added, "the transaction")
      try await expect(.altered(row: "b", of: "transactions"), "the answer") {
        _ = try await answer(storage, "b", .yes)
      }
      try await expect(storage.transaction("b")?.state, is: .pending, "the transaction afterwards")
      try await expect(storage.pushAuthMessage("p-b")?.state, is: .pending, "its message")
    },
    Check("a request that nothing of the user's could answer is refused, and nothing of it is added") {
      storage in
      try await storage.add(Sample.alice)
      try await client(storage, "c")
      @Sendable func refused(_ subject: String, keys: Bool = false) async throws {
        try await expect(
          storage.ask(
            "t", authenticatorRequests("t", keys: keys), TransactionLimits(pending: 9, challenges: 1)),
          is: .noAuthenticator, subject)
        try await expect(storage.transaction("t"), is: nil, "the transaction of \(subject)")
      }
      try await refused("nothing")
      try await addTarget(storage)
      try await refused("a target without a key", keys: true)
      try await addKey(storage)
      _ = try await storage.removeUAFTarget("d1", audit: event("removed"))
      try await refused("a key without a target")
      try await expect(
        storage.ask("k", authenticatorRequests("k", keys: true)), is: .added, "a key that the asker asks")
      try await expect(storage.uafOperation("s-k"), is: nil, "an operation for no target")
      try await addTarget(storage)
      try await expect(storage.ask("u", authenticatorRequests("u")), is: .added, "a key with a target")
      try await expect(storage.uafOperation("s-u")?.target, is: "d1", "its operation")
      try await expect(storage.pushAuthMessage("p-u"), is: nil, "a message to no app")
      _ = try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in event("removed")
      }
      try await refused("the key removed", keys: true)
      let record = BackchannelRecord(
        digest: [1], transaction: "t", client: "c", delivery: .poll, expires: 1_330, interval: 5)
      let outcome = try await storage.addBackchannelRequest(
        record, asking: Sample.transaction("t"), limits: Sample.limits, by: authenticatorRequests("t")
      ) { event("\($0)") }
      try expect(outcome, is: .noAuthenticator, "a client's request")
      try await addApp(storage)
      try await expect(storage.ask("m", authenticatorRequests("m")), is: .added, "an app")
      try await expect(storage.pushAuthMessage("p-m")?.transaction, is: "m", "its message")
      _ = try await storage.removePushAuthMechanism("m1", audit: event("removed"))
      try await refused("the app removed")
      try await storage.activate("c1")
      try await expect(storage.ask("c", authenticatorRequests("c")), is: .added, "a container")
      _ = try await storage.revokeContainer("c1")
      try await refused("the container revoked")
      var anybodys = Sample.transaction("n")
      anybodys.user = nil
      try await expect(storage.ask(anybodys, AuthenticatorRequestRecords()), is: .added, "one for anybody")
      try await expect(.unknown, "of nobody") {
        try await storage.ask(Sample.transaction("x", user: "carol"), AuthenticatorRequestRecords())
      }
    },
    Check("a transaction is one request in the user's budget, by however many ways it is asked") { storage in
      try await prepare(storage)
      let limits = TransactionLimits(pending: 5, challenges: 1000)
      try await expect(storage.ask("t3", authenticatorRequests("t3"), limits), is: .added, "the third")
      try await expect(
        storage.ask("t4", authenticatorRequests("t4"), limits), is: .tooManyPending(retryAfter: 300),
        "the fourth")
      try await expect(storage.pushAuthMessage("p-t4"), is: nil, "its message")
      try await expect(storage.uafOperation("s-t4"), is: nil, "its operation")
    },
    Check("an app's yes accepts a transaction and its no denies it, and both say which app it was") {
      storage in
      try await prepare(storage)
      try await expect(answer(storage, "t1", .yes), is: true, "yes")
      try await expect(answer(storage, "t2", .denied()), is: true, "no")
      for (id, state) in [("t1", TransactionRecord.State.accepted), ("t2", .denied)] {
        let found = try await storage.transaction("\(id)")
        try expect(found?.state, is: state, "the state of \(id)")
        try expect(found?.app, is: AppAnswer(mechanism: "m1", message: "p-\(id)", time: 1100), "the app")
        try expect(found?.decision == nil && found?.end == nil && found?.uaf == nil, "\(id) has one end")
        try await expect(storage.uafOperation("s-\(id)")?.hasEndedWithTransaction, is: true, "the operation")
        try await expect(authenticate(storage, id), is: .transactionEnded, "a late answer by UAF")
        try await expect(storage.decide("\(id)", Sample.decision()), is: .decidedBefore, "a late decision")
      }
    },
    Check("a token for a transaction whose time is over is not redeemed, and the transaction has expired") {
      storage in
      try await prepare(storage)
      func add(_ id: String, for transaction: TransactionID) async throws {
        var session = UAFOperationRecord(
          id: "s-\(id)", operation: "Auth", user: "alice", context: "{}", created: 1100, expires: 1500,
          state: .tokenCreated)
        (session.transaction, session.target) = (transaction, "d1")
        (session.tokenDigest, session.tokenExpires) = (Array(id.utf8), 1500)
        try await storage.addUAFOperation(session, audit: nil)
      }
      func redeem(_ id: String, at time: Int64) async throws -> Bool {
        try await storage.redeemUAFToken(
          Array(id.utf8), request: [1], at: time, until: time + 120, audit: event("redeemed by \(id)"))
      }
      for (id, transaction) in [("in time", "t1"), ("late", "t1"), ("ended", "t2")] {
        try await add(id, for: "\(transaction)")
      }
      try await expect(redeem("in time", at: 1299), is: true, "a second before the end")
      try await expect(redeem("late", at: 1300), is: false, "at the end")
      try await expect(storage.transaction("t1")?.state, is: .expired, "the transaction")
      try await expect(storage.uafOperation("s-late")?.hasEndedWithTransaction, is: true, "the operation")
      try await expect(storage.decide("t2", Sample.decision(.denied)), is: .decided, "a no")
      try await expect(redeem("ended", at: 1200), is: false, "for what was decided")
      let texts = try await storage.auditEntries(after: 0, limit: 1000).map(\.text)
      try expect(texts.count { $0 == event("redeemed by late").text }, is: 0, "events of the late one")
      try expect(texts.count { $0.contains("transaction.expired") }, is: 1, "events of the expiry")
    },
    Check("what was signed is kept with the answer that was taken, and with no other") { storage in
      try await prepare(storage)
      let first = EvidenceRecord(bytes: [1, 0, 2], sealedKey: [3])
      let second = EvidenceRecord(bytes: [4])
      try await expect(storage.transaction("t1")?.evidence, is: nil, "while it waits")
      try await expect(answer(storage, "t1", .denied(), evidence: first), is: true, "an app's no")
      try await expect(storage.transaction("t1")?.evidence, is: first, "the evidence of the app's answer")
      try await expect(
        authenticate(storage, "t1", evidence: second), is: .transactionEnded, "a late answer by UAF")
      try await expect(answer(storage, "t1", .yes, evidence: second), is: false, "a second answer")
      try await expect(storage.transaction("t1")?.evidence, is: first, "after late answers")
      try await expect(authenticate(storage, "t2", evidence: second), is: .accepted, "an answer by UAF")
      try await expect(storage.transaction("t2")?.evidence, is: second, "the evidence of UAF")
      try await expect(storage.removePushAuthMechanism("m1", audit: event("removed")), is: true, "the app")
      try await expect(storage.transaction("t1")?.evidence, is: first, "once the app is removed")
    },
    Check(
      "a wrong number in an app denies its transaction, with what was signed, and nothing is taken after it"
    ) {
      storage in
      try await prepare(storage)
      let evidence = EvidenceRecord(bytes: [2], sealedKey: [3])
      let outcome = try await storage.answerPushAuthMessage(
        "p-t1", .denied(because: EndRecord.wrongNumber), evidence: evidence, at: 1100, audit: event("wrong"))
      try expect(outcome, is: .accepted, "the wrong number")
      let found = try await storage.transaction("t1")
      try expect(found?.state, is: .denied, "the state")
      try expect(found?.end?.reason, is: "wrongNumber", "the reason")
      try expect(found?.app?.mechanism, is: "m1", "the app")
      try expect(found?.evidence, is: evidence, "the evidence")
      try await expect(answer(storage, "t1", .yes), is: false, "the right one, too late")
    },
    Check("whatever ends a transaction ends what its user was asked by in the same step") { storage in
      try await prepare(storage)
      func ended(_ id: String, _ subject: String, at time: Int64 = 1150) async throws {
        try await expect(storage.uafOperation("s-\(id)")?.state, is: .failed, "\(subject): the operation")
        try await expect(
          storage.uafOperation("s-\(id)")?.end?.status, is: 1408, "\(subject): what the client is told")
        try await expect(storage.pushAuthMessage("p-\(id)")?.state, is: .expired, "\(subject): the message")
        try await expect(answer(storage, id, .yes, at: time), is: false, "\(subject): a late yes")
        try await expect(
          authenticate(storage, id, at: time), is: .transactionEnded, "\(subject): a late answer")
      }
      try await expect(storage.decide("t1", Sample.decision(.denied)), is: .decided, "a no by a container")
      try await ended("t1", "a no")
      try await expect(
        storage.end("t2", Sample.end(.withdrawn), isSuspicious: false, limits: Sample.limits), is: .decided,
        "withdrawn")
      try await ended("t2", "withdrawal")
      try await expect(storage.ask("t3", authenticatorRequests("t3")), is: .added, "t3")
      try await expect(
        storage.end("t3", Sample.end(.cancelled, by: "c1"), isSuspicious: false, limits: Sample.limits),
        is: .decided, "cancelled")
      try await ended("t3", "cancellation")
      try await expect(storage.ask("t4", authenticatorRequests("t4")), is: .added, "t4")
      try await expect(authenticate(storage, "t4"), is: .expired, "before its token is redeemed")
      _ = try await storage.sweep(at: 1_300) { event("expired \($0)") }
      try await ended("t4", "expiry", at: 1_299)
      var late = Sample.transaction("t5", created: 1_400)
      late.expires = 1_700
      try await expect(storage.ask(late, authenticatorRequests("t5")), is: .added, "t5")
      _ = try await storage.suspendUser(
        "alice", reason: "", subject: "~new", at: 1_450, audit: event("suspended")
      ) {
        event("ended \($0)")
      }
      try await expect(storage.uafOperation("s-t5")?.state, is: .failed, "suspension: the operation")
      try await expect(storage.pushAuthMessage("p-t5")?.state, is: .expired, "suspension: the message")
      _ = try await storage.resumeUser("alice", at: 1_451, audit: event("resumed"))
      try await expect(answer(storage, "t5", .yes, at: 1_452), is: false, "suspension: a late yes")
    },
    Check("an app's answer to a transaction that is past its end is refused, and marks that") { storage in
      try await prepare(storage)
      try await expect(answer(storage, "t1", .yes, at: 1_300), is: false, "at its end")
      try await expect(storage.transaction("t1")?.state, is: .expired, "the transaction")
      try await expect(answer(storage, "t1", .yes, at: 1_200), is: false, "with the clock set back")
    },
    Check("of 50 answers of all kinds at once one ends the transaction, and all others are told") { storage in
      try await prepare(storage)
      let won = try await race { number in
        switch number % 5 {
        case 0: try await storage.decide("t1", Sample.decision()) == .decided
        case 1: try await authenticate(storage, "t1") == .accepted
        case 2: try await answer(storage, "t1", .yes)
        case 3: try await answer(storage, "t1", .denied())
        default:
          try await storage.end(
            "t1", Sample.end(.withdrawn), isSuspicious: false, limits: Sample.limits) == .decided
        }
      }
      try expect(won.count { $0 }, is: 1, "ends")
      let found = try await storage.transaction("t1")
      let kinds = [found?.decision != nil, found?.uaf != nil, found?.app != nil, found?.end != nil]
      try expect(kinds.count { $0 }, is: 1, "kinds of ends in the row")
      try await expect(
        storage.uafOperation("s-t1")?.state, is: found?.uaf == nil ? .failed : .succeeded, "the operation")
      let state = try await storage.pushAuthMessage("p-t1")?.state
      try expect(
        state, is: found?.app == nil ? .expired : found?.state == .accepted ? .approved : .denied,
        "the message")
    },
    Check("tokens are given out for what UAF or an app has accepted, while that is in use") { storage in
      try await prepare(storage)
      try await client(storage, "c")
      @Sendable func request(_ id: TransactionID) async throws {
        let record = BackchannelRecord(
          digest: Array(id.text.utf8), transaction: id, client: "c", delivery: .poll, expires: 1_330,
          interval: 5)
        let outcome = try await storage.addBackchannelRequest(
          record, asking: Sample.transaction(id), limits: Sample.limits, by: authenticatorRequests("\(id)")
        ) { event("\($0)") }
        try expect(outcome, is: .added, "\(id)")
        _ = try await storage.redeemUAFToken(
          Array(id.text.utf8), request: [1], at: 1050, until: 1290, audit: event("redeemed"))
      }
      @Sendable func issued(_ id: String) async throws -> Bool {
        try await storage.issueTokens(
          for: Array(id.utf8), of: "c", at: 1_200, pushedWithin: 60, audit: event("issued"))
      }
      for id in ["u1", "u2", "a1", "a2", "a3"] as [TransactionID] { try await request(id) }
      try await expect(issued("u1"), is: false, "before it is accepted")
      for id in ["u1", "u2"] { try await expect(authenticate(storage, id), is: .accepted, "UAF's \(id)") }
      for id in ["a1", "a2"] { try await expect(answer(storage, id, .yes), is: true, "the app's \(id)") }
      try await expect(answer(storage, "a3", .denied()), is: true, "the app's no")
      try await expect(issued("u1"), is: true, "for UAF")
      try await expect(issued("u1"), is: false, "for UAF, again")
      try await expect(issued("a1"), is: true, "for the app")
      try await expect(issued("a3"), is: false, "for a no")
      try await expect(storage.isProofInUse(of: "u2"), is: true, "the key")
      _ = try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in event("removed")
      }
      try await expect(storage.isProofInUse(of: "u2"), is: false, "the key, removed")
      try await expect(issued("u2"), is: false, "for a key that is gone")
      try await expect(storage.isProofInUse(of: "a2"), is: true, "the app")
      _ = try await storage.removePushAuthMechanism("m1", audit: event("removed"))
      try await expect(storage.isProofInUse(of: "a2"), is: false, "the app, removed")
      try await expect(issued("a2"), is: false, "for an app that is gone")
      try await expect(storage.isProofInUse(of: "none"), is: false, "of nothing")
    },
  ]
}

extension Storage {
  fileprivate func ask(
    _ id: TransactionID, _ authenticatorRequests: AuthenticatorRequestRecords,
    _ limits: TransactionLimits = Sample.limits
  ) async throws -> AdmissionOutcome {
    try await ask(Sample.transaction(id), authenticatorRequests, limits)
  }

  fileprivate func ask(
    _ transaction: TransactionRecord, _ authenticatorRequests: AuthenticatorRequestRecords,
    _ limits: TransactionLimits = Sample.limits
  ) async throws -> AdmissionOutcome {
    try await addTransaction(
      transaction, key: nil, limits: limits, authenticatorRequests: authenticatorRequests
    ) {
      StorageContract.event("\($0)")
    }
  }
}
