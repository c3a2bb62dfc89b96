import SignetStorage

extension StorageContract {
  private static func credential(
    _ key: UInt8, user: UserID = "alice", counter: UInt32 = 0
  ) -> UAFCredentialRecord {
    var credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: [UInt8](repeating: key, count: 32), user: user, publicKey: [4, key],
      algorithm: 1, keyFormat: 0x100, signCounter: counter, registrationCounter: 1,
      authenticatorVersion: 256, created: 1000)
    if key % 2 == 1 { (credential.modelProof, credential.keyProtection) = (.attested, 0x0A) }
    return credential
  }

  private static func session(
    _ id: ID<UAFOperationRecord>, _ operation: String = "Auth", transaction: TransactionID? = nil
  ) -> UAFOperationRecord {
    var session = UAFOperationRecord(
      id: id, operation: operation, user: "alice", context: "{}", created: 1000, expires: 1100,
      state: .requested)
    session.request = [1, 2]
    session.transaction = transaction
    return session
  }

  private static func end(at time: Int64 = 1050) -> UAFOperationEnd {
    UAFOperationEnd(status: 1200, time: time)
  }

  private static func use(_ key: UInt8, _ counter: UInt32) -> CounterUpdate {
    CounterUpdate(aaid: "7357#0001", keyID: [UInt8](repeating: key, count: 32), signCounter: counter)
  }

  private static func authenticate(
    _ storage: Storage, _ id: ID<UAFOperationRecord>, _ uses: [CounterUpdate], of user: UserID = "alice",
    at time: Int64 = 1050
  ) async throws -> UAFOutcome {
    try await storage.finishUAFAuthentication(
      id, of: user, end(at: time), uses: uses
    ) { event($0 == .accepted ? "taken" : "refused") }
  }

  private static func register(
    _ storage: Storage, _ id: ID<UAFOperationRecord>, _ credentials: [UAFCredentialRecord],
    at time: Int64 = 1050
  ) async throws -> UAFOutcome {
    try await storage.finishUAFRegistration(id, end(at: time), adding: credentials.map(\.new), limit: 4) {
      event($0 == .accepted ? "taken" : "refused")
    }
  }

  /// Prepares a user with keys of these counters, named 1, 2 and so on.
  private static func prepare(_ storage: Storage, _ counters: [UInt32]) async throws {
    try await storage.addUser(UserRecord(id: "alice", created: 1000), audit: event("user"))
    try await storage.addUser(UserRecord(id: "bob", created: 1000), audit: event("user"))
    try await storage.addUAFOperation(session("first", "Reg"), audit: nil)
    let credentials = counters.enumerated().map { credential(UInt8($0 + 1), counter: $1) }
    try expect(await register(storage, "first", credentials), is: .accepted, "the first registration")
  }

  static let uaf: [Check] = [
    Check("a UAF registration is taken once, of 50") { storage in
      try await storage.addUser(UserRecord(id: "alice", created: 1000), audit: event("user"))
      try await storage.addUAFOperation(session("s", "Reg"), audit: event("session"))
      let outcomes = try await race { try await register(storage, "s", [credential(UInt8($0))]) }
      try expect(outcomes.count { $0 == .accepted }, is: 1, "registrations that were taken")
      try expect(outcomes.count { $0 == .expired }, is: contestants - 1, "registrations that came too late")
      try expect(try await storage.uafCredentials(user: "alice").count, is: 1, "keys of the user")
      let session = try await storage.uafOperation("s")
      try expect(session?.state, is: .succeeded, "the operation")
      try expect(session?.end, is: end(), "its end")
    },
    Check("a UAF key is registered once, for whomever") { storage in
      try await prepare(storage, [0])
      var other = session("second", "Reg")
      other.user = "bob"
      try await storage.addUAFOperation(other, audit: nil)
      let outcome = try await register(
        storage, "second", [credential(9, user: "bob"), credential(1, user: "bob")])
      try expect(outcome, is: .keyExists, "a key that there is")
      try expect(try await storage.uafCredentials(user: "bob"), is: [], "keys of the other user")
      try expect(try await storage.uafOperation("second")?.state, is: .failed, "the operation")
      try expect(try await storage.uafOperation("second")?.end?.status, is: 1498, "its status")
      let found = try await storage.uafCredential(aaid: "7357#0001", keyID: [UInt8](repeating: 1, count: 32))
      try expect(found, is: credential(1), "the key")
    },
    Check("a UAF response that is too late is not taken") { storage in
      try await prepare(storage, [0])
      try await storage.addUAFOperation(session("s"), audit: nil)
      try expect(await authenticate(storage, "s", [use(1, 0)], at: 1100), is: .expired, "at the end")
      try expect(await authenticate(storage, "s", [use(1, 0)], at: 1099), is: .accepted, "before the end")
      try expect(await authenticate(storage, "none", [use(1, 0)]), is: .expired, "of no operation")
    },
    Check("UAF counters grow, or stay 0") { storage in
      try await prepare(storage, [0, 5])
      for (id, uses) in [("a", [use(1, 0)]), ("b", [use(1, 0), use(2, 6)]), ("c", [use(1, 3)])] {
        try await storage.addUAFOperation(session("\(id)"), audit: nil)
        try expect(await authenticate(storage, "\(id)", uses), is: .accepted, "authentication \(id)")
      }
      let counters = try await storage.uafCredentials(user: "alice").map(\.signCounter)
      try expect(counters, is: [3, 6], "the counters")
    },
    Check("a UAF key whose counter does not grow is in quarantine") { storage in
      try await prepare(storage, [5, 5, 5])
      for (id, key, counter) in [("a", 1, 5), ("b", 2, 4), ("c", 3, 0)] as [(String, UInt8, UInt32)] {
        try await storage.addUAFOperation(session("\(id)"), audit: nil)
        let copied = use(key, counter)
        try expect(
          await authenticate(storage, "\(id)", [copied]), is: .clonedAuthenticator(copied),
          "counter \(counter) after 5")
        try expect(try await storage.uafOperation("\(id)")?.state, is: .failed, "the operation")
        try await storage.addUAFOperation(session("\(id)2"), audit: nil)
        try expect(
          await authenticate(storage, "\(id)2", [use(key, 100)]), is: .keyUnknown, "a key in quarantine")
        let statuses = [
          try await storage.uafOperation("\(id)")?.end?.status,
          try await storage.uafOperation("\(id)2")?.end?.status,
        ]
        try expect(statuses, is: [1498, 1481], "what the clients are told")
      }
      let states = try await storage.uafCredentials(user: "alice").map(\.state)
      try expect(states, is: [.quarantined, .quarantined, .quarantined], "the keys")
    },
    Check("of 50 UAF responses with one counter one is taken") { storage in
      try await prepare(storage, [5])
      for number in 0..<contestants { try await storage.addUAFOperation(session("s\(number)"), audit: nil) }
      let outcomes = try await race { try await authenticate(storage, "s\($0)", [use(1, 6)]) }
      try expect(outcomes.count { $0 == .accepted }, is: 1, "responses that were taken")
      try expect(
        outcomes.count { $0 == .clonedAuthenticator(use(1, 6)) }, is: 1, "responses that told of the copy")
      try expect(try await storage.uafCredentials(user: "alice").map(\.state), is: [.quarantined], "the key")
    },
    Check("a UAF response decides its transaction, unless that has ended") { storage in
      try await prepare(storage, [0])
      for id in ["t1", "t2"] as [TransactionID] {
        _ = try await storage.addTransaction(
          Sample.transaction(id), key: nil, limits: TransactionLimits()
        ) { _ in event("transaction") }
        try await storage.addUAFOperation(session("\(id)", transaction: id), audit: nil)
      }
      try expect(await authenticate(storage, "t1", [use(1, 0)]), is: .accepted, "of a pending one")
      let decided = try await storage.transaction("t1")
      try expect(decided?.state, is: .accepted, "the transaction")
      try expect(decided?.uaf, is: UAFAcceptance(session: "t1", time: 1050), "how it was accepted")
      let end = EndRecord(state: .withdrawn, reason: "", container: nil, time: 1040)
      _ = try await storage.endTransaction(
        "t2", end, isSuspicious: false, key: nil, limits: TransactionLimits()
      ) { _ in event("withdrawn") }
      try expect(
        await authenticate(storage, "t2", [use(1, 0)]), is: .transactionEnded, "of one that was withdrawn")
      try expect(try await storage.transaction("t2")?.state, is: .withdrawn, "the transaction")
    },
    Check("no UAF operation begins for a transaction that is over, and its user is not counted as asked") {
      storage in
      try await prepare(storage, [0])
      for id in ["t1", "t2", "t3"] as [TransactionID] {
        try await storage.addTransaction(Sample.transaction(id), audit: event("transaction"))
      }
      func begin(_ id: ID<UAFOperationRecord>, for transaction: TransactionID, at time: Int64) async throws
        -> AdmissionOutcome
      {
        var session = session(id, transaction: transaction)
        (session.created, session.expires, session.target) = (time, time + 100, "d1")
        return try await storage.addUAFOperation(session, limits: TransactionLimits(challenges: 1)) {
          event("\(id) \($0)")
        }
      }
      try await expect(begin("last", for: "t1", at: 1299), is: .added, "in its last second")
      try await expect(begin("late", for: "t1", at: 1300), is: .transactionEnded, "at its end")
      try await expect(storage.transaction("t1")?.state, is: .expired, "what is written down")
      try await expect(
        begin("back", for: "t1", at: 1299), is: .transactionEnded, "where the clock is set back")
      let next = try await storage.addTransaction(
        Sample.transaction("t5"), key: nil, limits: TransactionLimits(challenges: 1)
      ) { _ in event("transaction") }
      try expect(next, is: .added, "the next request, as nobody was asked")
      try await expect(storage.end("t2", Sample.end(.withdrawn)), is: .decided, "a withdrawal")
      try await expect(begin("withdrawn", for: "t2", at: 1200), is: .transactionEnded, "a withdrawn one")
      try await storage.addUAFOperation(session("t3", transaction: "t3"), audit: nil)
      try expect(await authenticate(storage, "t3", [use(1, 0)]), is: .accepted, "an answer")
      try await expect(begin("accepted", for: "t3", at: 1200), is: .transactionEnded, "an accepted one")
      for id in ["late", "back", "withdrawn", "accepted"] as [ID<UAFOperationRecord>] {
        try await expect(storage.uafOperation(id) == nil, is: true, "\(id) is not added")
        try await expect(
          log(of: storage).count { $0 == event("\(id) transactionEnded").text }, is: 1, "the event of \(id)")
      }
      try await expect(.unknown, "a transaction that there is not") {
        try await begin("x", for: "t4", at: 1200)
      }
    },
    Check("a UAF response is judged by what there is in the step, and refused with nothing counted") {
      storage in
      try await prepare(storage, [5])
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      let (pending, key) = (try await storage.transaction("t1"), credential(1, counter: 5))
      let refusal = UAFOutcome.requirementNotMet(reason: "no")
      for id in ["a", "b"] as [ID<UAFOperationRecord>] {
        try await storage.addUAFOperation(session(id, transaction: id == "b" ? "t1" : nil), audit: nil)
        let outcome = try await storage.finishUAFAuthentication(id, of: "alice", end(), uses: [use(1, 6)]) {
          event($0 == refusal ? "refused" : "accepted")
        } check: { keys, transaction in
          keys == [key] && transaction == (id == "b" ? pending : nil) ? refusal : nil
        }
        try expect(outcome, is: refusal, "the outcome of \(id)")
        try expect(try await storage.uafOperation(id)?.state, is: .failed, "the operation \(id)")
        try expect(try await storage.uafOperation(id)?.end?.status, is: 1492, "the status of \(id)")
      }
      try expect(try await storage.uafCredentials(user: "alice"), is: [key], "the key")
      try expect(try await storage.transaction("t1")?.state, is: .pending, "the transaction")
      // A key that is not in use is refused as unknown, regardless of the requirement.
      try await storage.addUAFOperation(session("c"), audit: nil)
      let unknown = try await storage.finishUAFAuthentication(
        "c", of: "alice", end(), uses: [use(2, 1)]
      ) { _ in
        event("unknown")
      } check: { _, _ in
        refusal
      }
      try expect(unknown, is: .keyUnknown, "a key that there is not")
      try await storage.addUAFOperation(session("r", "Reg"), audit: nil)
      let registered = try await storage.finishUAFRegistration(
        "r", end(), adding: [credential(3).new], limit: 4
      ) { _ in
        event("not registered")
      } check: {
        refusal
      }
      try expect(registered, is: refusal, "a registration")
      try expect(try await storage.uafCredentials(user: "alice"), is: [key], "the keys")
      try expect(try await storage.uafOperation("r")?.end?.status, is: 1492, "the status of the registration")
      let texts = try await log(of: storage)
      for (name, count) in [("refused", 2), ("accepted", 0), ("unknown", 1), ("not registered", 1)] {
        try expect(texts.count { $0 == event(name).text }, is: count, "events called \(name)")
      }
    },
    Check("a UAF key is of its user alone") { storage in
      try await prepare(storage, [0])
      var anybody = session("s")
      anybody.user = nil
      try await storage.addUAFOperation(anybody, audit: nil)
      try await storage.addUAFOperation(session("own"), audit: nil)
      try expect(await authenticate(storage, "own", [use(1, 0)], of: "bob"), is: .expired, "of another user")
      try expect(await authenticate(storage, "s", [use(1, 0)]), is: .accepted, "where nobody was named")
      try expect(try await storage.uafOperation("s")?.user, is: "alice", "whose operation it is")
    },
    Check("a UAF token is redeemed once, of 50, in time") { storage in
      try await storage.addUser(UserRecord(id: "alice", created: 1000), audit: event("user"))
      _ = try await storage.addTarget("device", of: "alice")
      for (id, digest) in [("s", 1), ("late", 2)] as [(String, UInt8)] {
        var waiting = session("\(id)")
        waiting.state = .tokenCreated
        waiting.tokenDigest = [digest]
        waiting.tokenExpires = 1060
        waiting.target = "device"
        try await storage.addUAFOperation(waiting, audit: nil)
      }
      try expect(try await storage.pendingUAFOperations(target: "device", at: 1059).count, is: 2, "that wait")
      try expect(try await storage.pendingUAFOperations(target: "device", at: 1060), is: [], "that are over")
      let won = try await race { number in
        try await storage.redeemUAFToken(
          [1], request: [UInt8(number)], at: 1050, until: 1170, audit: event("redeemed"))
      }
      try expect(won.count { $0 }, is: 1, "redemptions")
      try expect(
        try await storage.uafOperation(tokenDigest: [1])?.expires, is: 1170, "the end of the request")
      let isTaken = try await storage.redeemUAFToken(
        [2], request: [1], at: 1060, until: 1170, audit: event("redeemed"))
      try expect(isTaken, is: false, "a redemption at the end")
    },
    Check("a UAF request that nobody answers is forgotten") { storage in
      try await prepare(storage, [])
      try await storage.addUAFOperation(session("s"), audit: nil)
      _ = try await storage.sweep(at: 1699) { _ in event("expired") }
      try expect(try await storage.uafOperation("s")?.id, is: "s", "before its time")
      _ = try await storage.sweep(at: 1700) { _ in event("expired") }
      try expect(try await storage.uafOperation("s"), is: nil, "ten minutes after its end")
      try expect(try await storage.uafOperation("first")?.state, is: .succeeded, "one that was answered")
    },
    Check("UAF keys are removed by name, by model, and all") { storage in
      try await prepare(storage, [0, 0, 0])
      let key = UAFKeySelection(aaid: "7357#0001", keyID: [UInt8](repeating: 1, count: 32))
      let counts = [
        try await storage.removeUAFCredentials(of: "bob", [key]) { _, _ in event("removed") },
        try await storage.removeUAFCredentials(of: "alice", [key]) { _, _ in event("removed") },
        try await storage.removeUAFCredentials(of: "alice", [key]) { _, _ in event("removed") },
        try await storage.removeUAFCredentials(
          of: "alice", [UAFKeySelection(aaid: "7357#0002")]
        ) { _, _ in event("removed") },
        try await storage.removeUAFCredentials(
          of: "alice", [UAFKeySelection(aaid: "7357#0001")]
        ) { _, _ in event("removed") },
      ]
      try expect(counts, is: [0, 1, 0, 0, 2], "removed keys")
    },
    Check("a UAF deregistration removes its keys and ends in one step, once of 50") { storage in
      try await prepare(storage, [0, 0])
      let key = UAFKeySelection(aaid: "7357#0001", keyID: [UInt8](repeating: 1, count: 32))
      @Sendable func deregister(
        _ id: ID<UAFOperationRecord>, _ selection: UAFKeySelection, of user: UserID = "alice",
        at time: Int64 = 1050
      ) async throws -> UAFOutcome {
        try await storage.finishUAFDeregistration(
          id, of: user, end(at: time), removing: [selection], audit: event("ended")
        ) { _, _ in event("removed") }
      }
      try await storage.addUAFOperation(session("s", "Dereg"), audit: nil)
      try expect(await deregister("s", key, of: "bob"), is: .expired, "of another user")
      try expect(await deregister("s", key, at: 1100), is: .expired, "when it is over")
      try expect(await deregister("none", key), is: .expired, "of no operation")
      try expect(try await storage.uafCredentials(user: "alice").count, is: 2, "keys that stay")
      let outcomes = try await race { _ in try await deregister("s", key) }
      try expect(outcomes.count { $0 == .accepted }, is: 1, "deregistrations that were taken")
      try expect(outcomes.count { $0 == .expired }, is: contestants - 1, "deregistrations that came too late")
      try expect(
        try await storage.uafCredentials(user: "alice").map(\.keyID),
        is: [[UInt8](repeating: 2, count: 32)], "the keys")
      try expect(try await storage.uafOperation("s")?.end, is: end(), "its end")
      try await storage.addUAFOperation(session("t", "Dereg"), audit: nil)
      try expect(await deregister("t", key), is: .accepted, "of a key that is gone")
    },
    Check("a UAF key is released from quarantine, and its counter stays") { storage in
      try await prepare(storage, [5])
      let id = [UInt8](repeating: 1, count: 32)
      func release() async throws -> Bool {
        try await storage.releaseUAFCredential(aaid: "7357#0001", keyID: id, audit: event("released"))
      }
      try expect(try await release(), is: false, "of a key that is in use")
      try await storage.addUAFOperation(session("s"), audit: nil)
      try expect(
        await authenticate(storage, "s", [use(1, 5)]), is: .clonedAuthenticator(use(1, 5)), "the copy")
      try expect(try await release(), is: true, "of the key in quarantine")
      try expect(
        try await storage.uafCredential(aaid: "7357#0001", keyID: id), is: credential(1, counter: 5),
        "the key")
      try expect(
        try await storage.releaseUAFCredential(aaid: "7357#0002", keyID: id, audit: event("released")),
        is: false, "of no key")
    },
    Check("a UAF device is forgotten for one user, with its keys") { storage in
      try await storage.addUser(UserRecord(id: "alice", created: 1000), audit: event("user"))
      try await storage.addUser(UserRecord(id: "bob", created: 1000), audit: event("user"))
      for (number, user, device) in [
        (1, "alice", "phone"), (2, "alice", nil), (3, "alice", "tablet"), (4, "bob", "phone"),
      ]
        as [(UInt8, String, String?)]
      {
        var registration = session("s\(number)", "Reg")
        registration.user = "\(user)"
        try await storage.addUAFOperation(registration, audit: nil)
        var key = credential(number, user: "\(user)")
        key.device = device
        try expect(await register(storage, "s\(number)", [key]), is: .accepted, "registration \(number)")
        _ = try await storage.addUAFTarget(
          UAFTargetRecord(
            id: "t\(number)", user: "\(user)", device: device, name: "\(number)", dispatcher: nil,
            sealedTarget: nil,
            signatureKey: [4], encryptionKey: nil, created: 1000), limit: 4, audit: event("target"))
      }
      try expect(
        try await storage.uafCredentials(user: "alice").map(\.device), is: ["phone", nil, "tablet"],
        "where the keys are")
      try expect(
        try await storage.removeUAFDevice("phone", of: "alice", audit: event("removed")), is: true, "once")
      try expect(
        try await storage.removeUAFDevice("phone", of: "alice", audit: event("removed")), is: false, "twice")
      try expect(
        try await storage.uafCredentials(limit: 10).map { $0.keyID[0] }, is: [2, 3, 4], "the other keys")
      try expect(
        try await storage.uafTargets(limit: 10).map(\.id), is: ["t2", "t3", "t4"], "the other targets")
      try expect(try await storage.uafTargets(limit: 1).map(\.id), is: ["t2"], "the first of them")
    },
    Check("UAF devices have one name for a user") { storage in
      try await prepare(storage, [])
      let target = UAFTargetRecord(
        id: "d1", user: "alice", device: "phone", name: "Phone", dispatcher: "link", sealedTarget: [1],
        signatureKey: [4], encryptionKey: nil, created: 1000)
      _ = try await storage.addUAFTarget(target, limit: 4, audit: event("target"))
      var other = target
      other.id = "d2"
      let twin = other
      try await expect(.exists, "a second of the name") {
        _ = try await storage.addUAFTarget(twin, limit: 4, audit: event("target"))
      }
      (other.user, other.name) = ("bob", "Phone")
      _ = try await storage.addUAFTarget(other, limit: 4, audit: event("target"))
      (other.user, other.id) = ("nobody", "d3")
      let stranger = other
      try await expect(.unknown, "of no user") {
        _ = try await storage.addUAFTarget(stranger, limit: 4, audit: event("target"))
      }
      let isChanged = try await storage.changeUAFTarget(
        "d1", UAFTargetChange(name: "Tablet", sealedTarget: []), audit: event("changed"))
      try expect(isChanged, is: true, "the change")
      let found = try await storage.uafTarget("d1")
      try expect(found?.name, is: "Tablet", "the name")
      try expect(found?.sealedTarget, is: nil, "the address")
      try expect(try await storage.uafTargets(device: "phone").map(\.id), is: ["d1", "d2"], "of the device")
      try expect(try await storage.removeUAFTarget("d1", audit: event("removed")), is: true, "the removal")
      try expect(try await storage.removeUAFTarget("d1", audit: event("removed")), is: false, "again")
    },
  ]
}
