import PostgreSQLFixture
import SignetCrypto
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// The first end of a transaction wins, compared with a model of the possible outcomes.
///
/// Devices, relying party and expiry compete over two connections to one database.
@Suite(.timeLimit(.minutes(10))) struct TransactionRaceTests {
  /// One action on a transaction, with its author and time.
  private struct Act: Sendable {
    enum Kind: Sendable, CaseIterable { case accept, deny, report, cancel, withdraw, wrongNumber, sweep }
    let kind: Kind
    let container: ContainerID
    let time: Int64
    let transaction: TransactionID
  }

  private static let expiry: Int64 = 1300

  private static func acts(seed: Int) -> [Act] {
    var random = SplitMix64(seed: UInt64(seed))
    return (0..<60).map { _ in
      // Few sweeps, since each ends all that is left.
      var kind = Act.Kind.allCases[random.next(below: Act.Kind.allCases.count)]
      if kind == .sweep, random.next(below: 4) > 0 { kind = .accept }
      return Act(
        kind: kind, container: ["c1", "c2"][random.next(below: 2)],
        time: random.next(below: 8) == 0
          ? expiry + Int64(random.next(below: 2)) : 1100 + Int64(random.next(below: 100)),
        transaction: "t\(random.next(below: 6))")
    }
  }

  private static let limits = TransactionLimits(pending: 100, challenges: 1000)

  private static func run(_ act: Act, on storage: Storage) async throws -> DecisionOutcome? {
    let audit: @Sendable (DecisionOutcome) -> AuditRecord = { .sample("\($0)") }
    func decide(_ state: TransactionRecord.State, hasRightNumber: Bool = true) async throws -> DecisionOutcome
    {
      let record = DecisionRecord(
        state: state, jws: "\(state) by \(act.container)", container: act.container, time: act.time)
      guard let container = try await storage.container(act.container) else { return .signerChanged }
      let attempt = DecisionAttempt(
        transaction: act.transaction, by: SignerRecord(container), request: SystemRandomSource().bytes(16),
        expires: expiry + 1000)
      return try await storage.decideTransaction(attempt, limits: limits) { _, _ in
        .accept(record, isSigned: true, hasRightNumber: hasRightNumber)
      } audit: {
        audit($0)
      }.value
    }
    func end(_ state: TransactionRecord.State, by container: ContainerID?) async throws -> DecisionOutcome {
      let record = EndRecord(state: state, reason: "why", container: container, time: act.time)
      return try await storage.endTransaction(
        act.transaction, record, isSuspicious: false, key: nil, limits: limits, audit: audit)
    }
    switch act.kind {
    case .accept: return try await decide(.accepted)
    case .deny: return try await decide(.denied)
    case .report: return try await decide(.reported)
    case .wrongNumber: return try await decide(.accepted, hasRightNumber: false)
    case .cancel: return try await end(.cancelled, by: act.container)
    case .withdraw: return try await end(.withdrawn, by: nil)
    case .sweep:
      _ = try await storage.sweep(at: act.time) { .sample("expired \($0)") }
      return nil
    }
  }

  private static func prepare(_ storage: Storage) async throws {
    let event = AuditRecord.sample()
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: event)
    for (number, id) in ["c1", "c2"].enumerated() {
      let activation = ActivationRecord(
        id: "a\(id)", user: "alice", sealedInviteKey: [1], salt: [2], memoryKiB: 19_456, passes: 2, lanes: 1,
        profile: [], created: 1, expires: 2000)
      try await storage.addActivation(activation, audit: event)
      let container = ContainerRecord(
        id: "\(id)", user: "alice", activation: "a\(id)", device: [UInt8(number)], name: "",
        platform: "linux",
        keystore: "software", sessionKey: [4, 1, UInt8(number)], encryptionKey: [4, 2, UInt8(number)],
        signingKey: [4, 3, UInt8(number)], profile: [],
        created: 1)
      let credential = CredentialRecord(
        id: "\(id)", user: "alice", serial: nil, kind: .totp, algorithm: "SHA256", digits: 6, period: 30,
        sealedSecret: [], created: 1, state: .pending)
      let new = NewContainer(container, credential)
      _ = try await storage.finishActivation("a\(id)", container: new, limit: 5, at: 10) { _ in event }
      _ = try await storage.confirmContainer("\(id)", at: 10, audit: { _ in event }, lost: { _ in event })
    }
    for number in 0..<6 {
      let transaction = TransactionRecord(
        id: "t\(number)", user: "alice", content: "{}", created: 1000, expires: expiry)
      _ = try await storage.addTransaction(transaction, key: nil, limits: limits) { _ in event }
    }
  }

  /// Checks that the final state is the result of exactly one act, and that every answer agrees with it.
  private static func check(_ done: [(Act, DecisionOutcome)], sweeps: [Int64], _ found: TransactionRecord) {
    let mine = done.filter { $0.0.transaction == found.id }
    let winners = mine.filter { $0.1 == .decided || $0.1 == .wrongNumber(remaining: 0) }
    let isSwept = found.state == .expired
    #expect(winners.count == (found.state == .pending || isSwept ? 0 : 1), "\(found.id)")
    // A late act finds the transaction expired, and marks it.
    if isSwept { #expect(sweeps.contains { $0 >= expiry } || mine.contains { $0.0.time >= expiry }) }
    if let (act, outcome) = winners.first {
      let state: TransactionRecord.State =
        switch act.kind {
        case .accept: .accepted
        case .deny, .wrongNumber: .denied
        case .report: .reported
        case .cancel: .cancelled
        case .withdraw: .withdrawn
        case .sweep: .expired
        }
      #expect(found.state == state && act.time < expiry)
      if outcome == .decided, found.decision != nil {
        #expect(found.decision?.jws == "\(state) by \(act.container)" && found.decision?.time == act.time)
      }
    }
    for (act, outcome) in mine {
      switch outcome {
      case .decided: continue
      case .repeated:
        let hand = found.decision?.container ?? found.end?.container
        #expect(act.kind == .withdraw ? hand == nil : hand == act.container)
      case .decidedBefore: #expect([.accepted, .denied, .reported].contains(found.state))
      case .cancelled: #expect([.cancelled, .withdrawn].contains(found.state))
      case .expired: #expect(act.time >= expiry || isSwept)
      case .wrongNumber: #expect(act.kind == .wrongNumber && act.time < expiry)
      case .unknown, .notSigned, .locked, .keyRevoked, .waiting, .signerChanged, .replayed,
        .containerLocked, .mismatch, .reportDue, .tooMany:
        Issue.record("\(outcome)")
      }
    }
    let counted = mine.compactMap { act, outcome -> Int? in
      if case .wrongNumber(let remaining) = outcome { remaining } else { nil }
    }
    #expect(counted.sorted(by: >) == (0..<counted.count).map { 2 - $0 })
  }

  @Test(
    "two connections, two devices, the relying party and the sweep", arguments: 0..<12, StorageBackend.here)
  func race(_ seed: Int, _ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storages = try [0, 1].map { _ in try Storage.open(location, connections: 4) }
    try await Self.prepare(storages[0])
    let acts = Self.acts(seed: seed)
    let done = try await withThrowingTaskGroup(of: (Act, DecisionOutcome?).self) { group in
      for (index, act) in acts.enumerated() {
        group.addTask { (act, try await Self.run(act, on: storages[index % 2])) }
      }
      var done: [(Act, DecisionOutcome?)] = []
      for try await one in group { done.append(one) }
      return done
    }
    let outcomes = done.compactMap { act, outcome in outcome.map { (act, $0) } }
    let sweeps = acts.filter { $0.kind == .sweep }.map(\.time)
    for number in 0..<6 {
      Self.check(outcomes, sweeps: sweeps, try #require(try await storages[0].transaction("t\(number)")))
    }
    for storage in storages { await storage.close() }
  }
}
