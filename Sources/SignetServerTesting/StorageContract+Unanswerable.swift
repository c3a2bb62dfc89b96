import SignetCrypto
import SignetStorage

// Requests that no authenticator of their user can answer, or can answer any more.
extension StorageContract {
  private static let locks: [(name: String, @Sendable (Storage, _ user: UserID) async throws -> Void)] = [
    ("a lock of its device", { _ = try await $0.lockDevice(of: $1) }),
    ("a lock of its container", { try await $0.order(.lock, "c-\($1)") }),
    ("the command to wipe it", { try await $0.order(.wipe, "c-\($1)") }),
    ("its report", { try await $0.report(.locked, of: "c-\($1)") }),
  ]

  private static let removals: [(name: String, @Sendable (Storage, _ user: UserID) async throws -> Void)] = [
    ("a revocation of its container", { _ = try await $0.revokeContainer("c-\($1)") }),
    (
      "a revocation of its device",
      { storage, user in
        try await expect(
          storage.revokeDevice(storage.only(user).id, audit: at(1010), lost: Sample.lost), is: true, "revoke")
      }
    ),
    ("its user's deletion of it", { _ = try await $0.end("c-\($1)", as: "deleted") }),
    (
      "the acknowledgement of a wipe",
      { storage, user in
        try await storage.order(.wipe, "c-\(user)", id: "o-\(user)")
        _ = try await storage.receiveDeviceCommand(
          "o-\(user)", of: "c-\(user)", receipt: "jws", at: 1020, audit: at(1020), lost: Sample.lost)
      }
    ),
  ]

  private static func at(_ time: Int64) -> AuditRecord {
    AuditRecord(.userAdded(user: "cause"), by: .key("k"), at: time)
  }

  /// Adds a client's request to alice, with an operation for the target `d1` and a message to the app `m1`.
  private static func ask(
    _ storage: Storage, _ id: TransactionID, target: ID<UAFTargetRecord>? = nil, until end: Int64 = 1300,
    app: String? = nil
  ) async throws -> AdmissionOutcome {
    var authenticatorRequests = AuthenticatorRequestRecords()
    if let target {
      var session = Sample.session("s-\(id)", "Auth", of: "alice")
      (session.state, session.request, session.target) = (.tokenCreated, nil, target)
      (session.transaction, session.tokenDigest, session.tokenExpires) = (id, Array(id.text.utf8), end)
      authenticatorRequests.sessions = [(session, event("operation"))]
    }
    if let app {
      let message = PushAuthMessageRecord(
        id: "p-\(id)", of: id, mechanism: "\(app)", kind: "default", challenge: [3], created: 1000,
        expires: 1300)
      authenticatorRequests.messages = [(message, event("message"))]
    }
    let request = BackchannelRecord(
      digest: Array(id.text.utf8), transaction: id, client: "bank", delivery: .ping, expires: 1_330,
      sealedNotice: [9], interval: 5)
    return try await storage.addBackchannelRequest(
      request, asking: Sample.transaction(id), limits: Sample.limits, by: authenticatorRequests
    ) { _ in event("asked") }
  }

  private static func prepare(_ storage: Storage) async throws {
    try await storage.add(Sample.alice)
    var client = ClientRecord(
      id: "bank", name: "Bank", authentication: .privateKeyJWT, delivery: .ping, created: 5)
    client.notificationEndpoint = "https://a.example/cb"
    try await storage.addClient(client, audit: event("client"))
  }

  private static func expectEnded(_ storage: Storage, _ id: TransactionID, _ subject: String) async throws {
    let found = try await storage.transaction(id)
    try expect(found?.state, is: .withdrawn, "\(subject): the state")
    try expect(found?.end?.reason, is: "noAuthenticator", "\(subject): the reason")
  }

  private static func expectWaiting(_ storage: Storage, _ id: TransactionID, _ subject: String) async throws {
    try await expect(storage.transaction(id)?.state, is: .pending, "\(subject): the state")
  }

  /// The checks that an authenticator must be in use and on no locked device, at the creation and later.
  static let unanswerable: [Check] = refusedChecks + endedChecks + otherChecks

  private static let refusedChecks = locks.map { name, lock in
    Check("what is locked by \(name) answers no new request, but one that takes no more than a no") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c-alice")
      try await lock(storage, "alice")
      @Sendable func ask(_ id: TransactionID, _ statuses: [TransactionRecord.State]) async throws
        -> AdmissionOutcome
      {
        var transaction = Sample.transaction(id)
        transaction.statuses = statuses
        return try await storage.addTransaction(
          transaction, key: nil, limits: Sample.limits, authenticatorRequests: AuthenticatorRequestRecords()
        ) { _ in event("asked") }
      }
      let all: [TransactionRecord.State] = [.accepted, .denied, .reported]
      try await expect(ask("t1", all), is: .noAuthenticator, "a request")
      try await expect(storage.transaction("t1"), is: nil, "what is stored of it")
      try await expect(ask("t2", [.denied, .reported]), is: .added, "a question for a no")
      try await storage.activate("tablet", device: 8)
      try await expect(ask("t3", all), is: .added, "with another device")
      try await storage.order(.lock, "tablet")
      try await expectEnded(storage, "t3", "with that locked too")
      try await expectWaiting(storage, "t2", "a question for a no")
      try await storage.order(.unlock, "tablet")
      try await expect(ask("t4", all), is: .added, "with that unlocked")
    }
  }

  private static let endedChecks = (locks + removals).map { name, lose in
    Check("a request ends with the last that could answer it: by \(name)") { storage in
      for user in ["alice", "bob"] as [UserID] {
        try await storage.add(UserRecord(id: user, created: 100))
        try await storage.activate("c-\(user)", user: user)
      }
      try await storage.activate("tablet", device: 8)
      var anybodys = Sample.transaction("n")
      anybodys.user = nil
      try await storage.addTransaction(anybodys, audit: event("asked"))
      try await storage.addTransaction(Sample.transaction("b", user: "bob"), audit: event("asked"))
      for id in ["t1", "t2"] as [TransactionID] {
        try await storage.addTransaction(Sample.transaction(id), audit: event("asked"))
      }
      try await lose(storage, "alice")
      try await expectWaiting(storage, "t1", "while there is another")
      try await expect(storage.decide("t2", Sample.decision(by: "tablet")), is: .decided, "an answer")
      // The same for the remaining authenticator.
      try await storage.activate("c-2", device: 9)
      _ = try await storage.revokeContainer("tablet")
      try await expectWaiting(storage, "t1", "with a new one")
      let position = try await storage.transactionChanges(after: nil).last
      _ = try await storage.revokeContainer("c-2", audit: at(1050), lost: Sample.lost)
      try await expectEnded(storage, "t1", "without any")
      try await expect(storage.transaction("t1")?.end?.time, is: 1050, "when")
      try await expect(storage.transaction("t1")?.end?.container, is: nil, "by whom")
      try await expect(storage.transactionChanges(after: position).users, is: ["alice"], "who is told")
      let ended = AuditRecord(
        .transactionWithdrawn(transaction: "t1", reason: "noAuthenticator"), by: .key("k"), at: 1050)
      try await expect(log(of: storage).count { $0 == ended.text }, is: 1, "events")
      try await expect(storage.transaction("t2")?.state, is: .accepted, "what was decided before")
      for id in ["n", "b"] as [TransactionID] {
        try await expectWaiting(storage, id, "\(id), of somebody else")
      }
      try await lose(storage, "bob")
      try await expectEnded(storage, "b", "bob's")
    }
  }

  private static let otherChecks: [Check] = [
    Check("keys and targets of UAF on a locked device answer nothing, and what is elsewhere does") {
      storage in
      try await prepare(storage)
      _ = try await storage.register("k1", of: "alice")
      _ = try await storage.addTarget("d1", of: "alice")
      try await expect(ask(storage, "t1", target: "d1"), is: .added, "before")
      _ = try await storage.lockDevice(of: "alice")
      try await expectEnded(storage, "t1", "the lock")
      try await expect(storage.uafOperation("s-t1")?.state, is: .failed, "its operation")
      try await expect(
        storage.dueDeliveries(on: .ciba, at: 1011, limitPerReceiver: 9).map(\.event.subject), is: ["t1"],
        "what the client is told")
      try await expect(ask(storage, "t2", target: "d1"), is: .noAuthenticator, "while it is locked")
      // The target cannot reach a key on another device.
      _ = try await storage.register("k2", of: "alice", on: "tablet")
      try await expect(ask(storage, "t3", target: "d1"), is: .noAuthenticator, "with a key elsewhere")
      _ = try await storage.addTarget("d2", of: "alice", on: "tablet")
      try await expect(ask(storage, "t4", target: "d2"), is: .added, "with a target there")
      var own = AuthenticatorRequestRecords()
      own.mayAskUAFKeys = true
      let outcome = try await storage.addTransaction(
        Sample.transaction("t5"), key: nil, limits: Sample.limits, authenticatorRequests: own
      ) { _ in event("asked") }
      try expect(outcome, is: .added, "what a relying party has confirmed by itself")
      _ = try await storage.removeUAFTarget("d2", audit: event("removed"))
      try await expectEnded(storage, "t4", "without its target")
      try await expectWaiting(storage, "t5", "what needs no target")
      _ = try await storage.removeUAFCredentials(
        of: "alice", [UAFKeySelection(aaid: "7357#0001", keyID: Array("k2".utf8))]
      ) { _, _ in event("removed") }
      try await expectEnded(storage, "t5", "without a key that is not locked")
    },
    Check("a key that there are two of, a deregistration and a device that goes end what waits for them") {
      storage in
      try await prepare(storage)
      func begin(_ number: Int) async throws {
        _ = try await storage.register("k\(number)", of: "alice")
        _ = try await storage.addTarget("d\(number)", of: "alice")
        try await expect(ask(storage, "t\(number)", target: "d\(number)"), is: .added, "t\(number)")
      }
      try await begin(1)
      func logIn(_ counter: UInt32) async throws -> UAFOutcome {
        let session: ID<UAFOperationRecord> = "l\(counter)-\(Base64URL.encode(SystemRandomSource().bytes(8)))"
        try await storage.addUAFOperation(Sample.session(session, "Auth", of: "alice"), audit: nil)
        return try await storage.finishUAFAuthentication(
          "\(session)", of: "alice", UAFOperationEnd(status: 1200, time: 1050),
          uses: [CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: counter)]
        ) { _ in at(1050) }
      }
      try await expect(logIn(5), is: .accepted, "a login")
      try await expectWaiting(storage, "t1", "a login")
      guard case .clonedAuthenticator = try await logIn(4) else {
        throw Failure(description: "an older counter")
      }
      try await expectEnded(storage, "t1", "the quarantine")
      try await begin(2)
      try await storage.addUAFOperation(Sample.session("dereg", "Dereg", of: "alice"), audit: nil)
      _ = try await storage.finishUAFDeregistration(
        "dereg", of: "alice", UAFOperationEnd(status: 1200, time: 1050), removing: [UAFKeySelection()],
        audit: event("ended")
      ) { _, _ in at(1050) }
      try await expectEnded(storage, "t2", "the deregistration")
      try await begin(3)
      _ = try await storage.removeUAFDevice(Sample.installation, of: "alice", audit: at(1050))
      try await expectEnded(storage, "t3", "the removal of the device")
    },
    Check("a request ends with the last operation that could answer it, and waits while there is another way")
    {
      storage in
      try await prepare(storage)
      _ = try await storage.register("k1", of: "alice")
      _ = try await storage.addTarget("d1", of: "alice")
      let end = UAFOperationEnd(status: 1491, time: 1050)
      func refuse(_ session: ID<UAFOperationRecord>) async throws -> Bool {
        try await storage.failUAFOperation(session, end, audit: at(1050))
      }
      // The operation of t2 expires before the request.
      for (id, end) in [("t1", 1300), ("t2", 1290), ("t3", 1300)] as [(TransactionID, Int64)] {
        try await expect(ask(storage, id, target: "d1", until: end), is: .added, "\(id)")
      }
      try await expect(refuse("s-t1"), is: true, "a refusal")
      try await expectEnded(storage, "t1", "the refusal")
      try await expectWaiting(storage, "t2", "what has an operation of its own")
      _ = try await storage.expireUAFOperation(
        "s-t2", UAFOperationEnd(status: 1498, time: 1290), audit: at(1290))
      try await expectEnded(storage, "t2", "the end of the operation's time")
      try await expect(storage.redeem("t3"), is: true, "a token")
      let outcome = try await storage.finishUAFAuthentication(
        "s-t3", of: "alice", UAFOperationEnd(status: 1200, time: 1050),
        uses: [CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 0)]
      ) { _ in
        at(1050)
      } check: { _, _ in
        .requirementNotMet(reason: "x")
      }
      try expect(outcome, is: .requirementNotMet(reason: "x"), "an answer that does not do")
      try await expectEnded(storage, "t3", "that answer")
      // The user's other keys may answer a relying party's request, unless it was made for an operation only.
      for (id, kind) in [("r1", nil), ("r2", .uaf)] as [(String, AuthenticatorRecord.Kind?)] {
        var transaction = Sample.transaction("\(id)")
        transaction.soleKind = kind
        var own = AuthenticatorRequestRecords()
        own.mayAskUAFKeys = true
        try await expect(
          storage.addTransaction(transaction, key: nil, limits: Sample.limits, authenticatorRequests: own) {
            _ in
            event("asked")
          }, is: .added, id)
        try await expect(refuse("none"), is: false, "no operation")
        var session = Sample.session("s-\(id)", "Auth", of: "alice")
        session.transaction = "\(id)"
        try await storage.addUAFOperation(session, audit: nil)
        try await expect(refuse("s-\(id)"), is: true, "a refusal")
      }
      try await expectWaiting(storage, "r1", "what other operations may ask")
      try await expectEnded(storage, "r2", "what an operation has asked alone")
      try await storage.activate("c1")
      try await expect(ask(storage, "t4", target: "d1"), is: .added, "with a container")
      try await expect(refuse("s-t4"), is: true, "a refusal")
      try await expectWaiting(storage, "t4", "the container's")
    },
    Check("an operation whose time is over is no way to answer, and a request ends by its own time") {
      storage in
      try await prepare(storage)
      _ = try await storage.register("k1", of: "alice")
      _ = try await storage.addTarget("d1", of: "alice")
      /// Does something that makes the server check pending requests.
      func lose(_ key: String, at time: Int64) async throws {
        _ = try await storage.register(key, of: "alice")
        _ = try await storage.removeUAFCredentials(
          of: "alice", [UAFKeySelection(aaid: "7357#0001", keyID: Array(key.utf8))]
        ) { _, _ in Self.at(time) }
      }
      for id in ["t1", "t2"] as [TransactionID] {
        try await expect(ask(storage, id, target: "d1"), is: .added, "\(id)")
      }
      try await expect(storage.redeem("t1"), is: true, "a token")
      try await lose("k2", at: 1169)
      try await expectWaiting(storage, "t1", "in the last second of its operation")
      try await lose("k3", at: 1170)
      try await expectEnded(storage, "t1", "at the end of its operation")
      try await expectWaiting(storage, "t2", "with an operation that goes on")
      try await lose("k4", at: 1299)
      try await expectWaiting(storage, "t2", "in the last second of both")
      try await lose("k5", at: 1300)
      try await expectWaiting(storage, "t2", "when it is over itself")
    },
    Check("a transaction that an operation alone answers is stored with the operation, or neither is") {
      plain in
      var rules = AnswerRules()
      // The server would display something else than its asker has shown, and any key of the user may answer.
      rules.key = { _, _, confirmation in confirmation == .byRequester }
      let storage = plain.judging(by: rules)
      try await prepare(storage)
      _ = try await storage.register("k1", of: "alice", on: "tablet")
      _ = try await storage.addTarget("d1", of: "alice")
      func order(_ id: TransactionID, key: ID<APIKeyRecord> = "shop") async throws -> AdmissionOutcome {
        var transaction = Sample.transaction(id)
        transaction.soleKind = .uaf
        var session = Sample.session("s-\(id)", "Auth", of: "alice")
        (session.state, session.request, session.target) = (.tokenCreated, nil, "d1")
        (session.transaction, session.tokenDigest, session.tokenExpires) = (id, Array(id.text.utf8), 1300)
        let request = UAFOnlyTransaction(transaction, key: key) { _ in event("asked") }
        return try await storage.addUAFOperation(session, answering: request, limits: Sample.limits) { _ in
          event("operation")
        }
      }
      try await storage.addAPIKey(
        APIKeyRecord(id: "shop", name: "shop", scopes: ["relying-party"], secretDigest: [1], created: 1000),
        audit: event("key"))
      try await expect(order("t1"), is: .added, "an operation")
      try await expect(order("t2", key: "none"), is: .keyRevoked, "by a key that there is not")
      try await expect(storage.transaction("t2") == nil, is: true, "no transaction")
      try await expect(storage.uafOperation("s-t2") == nil, is: true, "no operation")
      // The end of another operation does not affect it.
      _ = try await storage.register("k2", of: "alice")
      _ = try await storage.removeUAFCredentials(
        of: "alice", [UAFKeySelection(aaid: "7357#0001", keyID: Array("k2".utf8))]
      ) { _, _ in at(1050) }
      try await expectWaiting(storage, "t1", "whose operation is open")
      let device = try await storage.devices(user: "alice").first { $0.installation == Sample.installation }
      _ = try await storage.lockDevice(device?.id ?? "none")
      try await expect(.deviceLocked, "for a target on a locked device") { try await order("t3") }
      try await expect(storage.transaction("t3") == nil, is: true, "no transaction without an operation")
    },
    Check("a request that waits for an app alone ends with the app") { storage in
      try await prepare(storage)
      for app in ["m1", "m2"] as [ID<PushAuthMechanismRecord>] {
        try await storage.addPushAuthMechanism(
          PushAuthMechanismRecord(
            id: app, user: "alice", sealedSecret: [1], challenge: [2], created: 1000, expires: 1900),
          with: nil, audit: event("app"))
        _ = try await storage.registerPushAuthMechanism(
          app, named: "the app \(app)", sealedDevice: [5], at: 1001, audit: event("registered"))
      }
      try await expect(ask(storage, "t1", app: "m1"), is: .added, "t1")
      try await expect(ask(storage, "t2", app: "m2"), is: .added, "t2")
      _ = try await storage.removePushAuthMechanism("m1", audit: at(1050))
      try await expectEnded(storage, "t1", "without its app")
      try await expectWaiting(storage, "t2", "with its app")
    },
    Check("what a renewal takes the place of may have shown more, and the rules say who can answer") {
      plain in
      var rules = AnswerRules()
      rules.container = { request, container in
        request.requirements.isEmpty || container.keyOrigin == request.requirements[0]
      }
      rules.ended = { id, cause in event("ended \(id) by \(cause.event == at(0).event)") }
      let storage = plain.judging(by: rules)
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      func ask(_ id: TransactionID, _ requirements: [String]) async throws -> AdmissionOutcome {
        var transaction = Sample.transaction(id)
        transaction.requirements = requirements
        return try await storage.addTransaction(
          transaction, key: nil, limits: Sample.limits, authenticatorRequests: AuthenticatorRequestRecords()
        ) { _ in event("asked") }
      }
      try await expect(ask("t1", ["tpm2"]), is: .noAuthenticator, "more than it shows")
      try await expect(ask("t2", ["software"]), is: .added, "what it shows")
      try await expect(ask("t3", []), is: .added, "whatever")
      var record = Sample.container("c2", activation: "a-c1")
      (record.renews, record.keyOrigin) = ("c1", "tpm2")
      _ = try await storage.stageRenewal(
        of: "c1", by: NewContainer(record, Sample.credential("c2")), limit: 3
      ) { _ in event("staged") }
      _ = try await storage.confirmContainer("c2", at: 1290, audit: { _ in at(1290) }, lost: Sample.lost)
      try await expectEnded(storage, "t2", "with other keys")
      try await expectWaiting(storage, "t3", "with other keys")
      try await expect(
        log(of: storage).count { $0 == event("ended t2 by true").text }, is: 1, "the event")
    },
  ]
}
