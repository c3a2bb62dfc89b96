import SignetStorage

// Requests that nothing of their user's could answer.
extension StorageContract {
  private static let locks: [(name: String, @Sendable (Storage, _ user: String) async throws -> Void)] = [
    ("a lock of its device", { _ = try await $0.lockDevice(of: $1) }),
    ("a lock of its container", { try await $0.order(.lock, "c-\($1)") }),
    ("the order to wipe it", { try await $0.order(.wipe, "c-\($1)") }),
    ("its report", { try await $0.report(.locked, of: "c-\($1)") }),
  ]

  /// A client's request to alice, with an operation for a target.
  private static func ask(
    _ storage: Storage, _ id: String, target: String
  ) async throws -> AdmissionOutcome {
    var asking = TransactionAsking()
    var session = Sample.session("s-\(id)", "Auth", of: "alice")
    (session.state, session.request, session.target) = (.tokenCreated, nil, target)
    (session.transaction, session.tokenDigest, session.tokenExpires) = (id, Array(id.utf8), 1300)
    asking.sessions = [(session, event("operation"))]
    let request = BackchannelRecord(
      digest: Array(id.utf8), transaction: id, client: "bank", delivery: .ping, expires: 1_330,
      sealedNotice: [9], interval: 5)
    return try await storage.addBackchannelRequest(
      request, asking: Sample.transaction(id), limits: Sample.limits, by: asking
    ) { _ in event("asked") }
  }

  private static func prepare(_ storage: Storage) async throws {
    try await storage.add(Sample.alice)
    var client = ClientRecord(
      id: "bank", name: "Bank", authentication: .privateKeyJWT, delivery: .ping, created: 5)
    client.notificationEndpoint = "https://a.example/cb"
    try await storage.addClient(client, audit: event("client"))
  }

  /// What could answer is in use, and on no locked device.
  static let unanswerable: [Check] = refusedChecks + otherChecks

  private static let refusedChecks = locks.map { name, lock in
    Check("what is locked by \(name) answers no new request, but one that takes no more than a no") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c-alice")
      try await lock(storage, "alice")
      @Sendable func ask(_ id: String, _ statuses: [String]) async throws -> AdmissionOutcome {
        var transaction = Sample.transaction(id)
        transaction.statuses = statuses
        return try await storage.addTransaction(
          transaction, key: nil, limits: Sample.limits, asking: TransactionAsking()
        ) { _ in event("asked") }
      }
      let all = ["accepted", "denied", "reported"]
      try await expect(ask("t1", all), is: .noAuthenticator, "a request")
      try await expect(storage.transaction("t1"), is: nil, "what is stored of it")
      try await expect(ask("t2", ["denied", "reported"]), is: .added, "a question for a no")
      try await storage.activate("tablet", device: 8)
      try await expect(ask("t3", all), is: .added, "with another device")
      try await storage.order(.lock, "tablet")
      try await expect(ask("t4", all), is: .noAuthenticator, "with that locked too")
      try await storage.order(.unlock, "tablet")
      try await expect(ask("t4", all), is: .added, "with that unlocked")
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
      try await expect(ask(storage, "t2", target: "d1"), is: .noAuthenticator, "while it is locked")
      // A key elsewhere is not reached by the target there.
      _ = try await storage.register("k2", of: "alice", on: "tablet")
      try await expect(ask(storage, "t3", target: "d1"), is: .noAuthenticator, "with a key elsewhere")
      _ = try await storage.addTarget("d2", of: "alice", on: "tablet")
      try await expect(ask(storage, "t4", target: "d2"), is: .added, "with a target there")
      var own = TransactionAsking()
      own.mayAskUAFKeys = true
      let outcome = try await storage.addTransaction(
        Sample.transaction("t5"), key: nil, limits: Sample.limits, asking: own
      ) { _ in event("asked") }
      try expect(outcome, is: .added, "what a relying party has confirmed by itself")
    },
    Check("the rules of the services say which containers can answer") { plain in
      var rules = AnswerRules()
      rules.container = { request, container in
        request.requirements.isEmpty || container.keyOrigin == request.requirements[0]
      }
      let storage = plain.judging(by: rules)
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      func ask(_ id: String, _ requirements: [String]) async throws -> AdmissionOutcome {
        var transaction = Sample.transaction(id)
        transaction.requirements = requirements
        return try await storage.addTransaction(
          transaction, key: nil, limits: Sample.limits, asking: TransactionAsking()
        ) { _ in event("asked") }
      }
      try await expect(ask("t1", ["tpm2"]), is: .noAuthenticator, "more than it shows")
      try await expect(ask("t2", ["software"]), is: .added, "what it shows")
      try await expect(ask("t3", []), is: .added, "whatever")
    },
  ]
}
