import SignetServerTesting
import SignetStorage
import Testing

/// The outcome of a client's poll for tokens, and the time of their issue.
@Suite struct BackchannelGrantRulesTests {
  private static func request(
    _ delivery: ClientRecord.Delivery = .poll, lastPoll: Int64? = nil, issued: Int64? = nil
  ) -> BackchannelRecord {
    var request = BackchannelRecord(
      digest: [1], transaction: "t", client: "c", delivery: delivery, expires: 1360, interval: 5)
    (request.lastPoll, request.issued) = (lastPoll, issued)
    return request
  }

  private static let client = ClientRecord(
    id: "c", name: "Bank", authentication: .privateKeyJWT, delivery: .poll, created: 5)

  @Test(
    "a poll that comes too soon lengthens the next wait, up to the limit",
    arguments: [
      (nil, 60, nil), (1095, 60, nil), (1096, 60, nil), (1097, 60, 10), (1100, 60, 10), (1100, 9, 9),
      // The clock was set back.
      (1101, 60, nil),
    ] as [(Int64?, Int64, Int64?)])
  func polls(last: Int64?, limit: Int64, next: Int64?) {
    let (outcome, change) = Self.request(lastPoll: last)
      .poll(of: TransactionRecord.rule(), at: 1100, step: 5, limit: limit)
    #expect(outcome == (next.map { .tooSoon(interval: $0) } ?? .pending))
    #expect(change == .counts(interval: next ?? 5))
  }

  /// The stored time of the last poll and interval, the wait of a poll at 1100, and the next interval.
  struct Bounds: Sendable {
    let last: Int64
    let interval: Int64
    var wait: Int64?
    let next: Int64
  }

  @Test(
    "columns without a MAC are bounded",
    arguments: [
      Bounds(last: .min, interval: 5, next: 5), Bounds(last: .max, interval: 5, next: 5),
      Bounds(last: 1100, interval: .max, wait: 60, next: 60),
      Bounds(last: .min, interval: .max, next: 3600), Bounds(last: .max, interval: .max, next: 3600),
      Bounds(last: 1100, interval: .min, next: 1), Bounds(last: .min, interval: .min, next: 1),
      Bounds(last: 1100, interval: 0, next: 1),
    ])
  func bounds(_ bounds: Bounds) {
    var request = Self.request(lastPoll: bounds.last)
    request.interval = bounds.interval
    let (outcome, change) = request.poll(of: TransactionRecord.rule(), at: 1100, step: 5, limit: 60)
    #expect(outcome == (bounds.wait.map { .tooSoon(interval: $0) } ?? .pending))
    #expect(change == .counts(interval: bounds.next))
  }

  @Test("an end is reported until the request expires; an expiry is recorded")
  func ends() {
    let (open, decided) = (Self.request(), TransactionRecord.rule(decided: .accepted))
    for (request, transaction, time, outcome, change) in [
      (open, TransactionRecord.rule(), 1299, .pending, .counts(interval: 5)),
      (open, TransactionRecord.rule(), 1300, .expired, .expires),
      (open, decided, 1359, .ended(open, decided), nil),
      (open, decided, 1360, .expired, .closes),
      (Self.request(issued: 1100), decided, 1110, .used, nil),
      (Self.request(issued: 1100), decided, 1400, .used, nil),
    ] as [(BackchannelRecord, TransactionRecord, Int64, PollOutcome, BackchannelRecord.PollChange?)] {
      let found = request.poll(of: transaction, at: time, step: 5, limit: 60)
      #expect(found.outcome == outcome && found.change == change, "at \(time)")
    }
  }

  private static func grants(
    _ request: BackchannelRecord = request(), isProofInUse: Bool = true, user: UserRecord.State? = .active,
    client: ClientRecord = client, at time: Int64 = 1110
  ) -> Bool {
    request.grantsTokens(
      for: TransactionRecord.rule(decided: .accepted), isProofInUse: isProofInUse, user: user, client: client,
      at: time,
      pushedWithin: 300)
  }

  @Test("a polling client gets tokens until its request expires, a notified one within the window")
  func inTime() {
    for delivery in [ClientRecord.Delivery.poll, .ping] {
      #expect(Self.grants(Self.request(delivery), at: 1359))
      #expect(!Self.grants(Self.request(delivery), at: 1360))
    }
    // It was decided at 1100.
    #expect(Self.grants(Self.request(.push), at: 1400))
    #expect(!Self.grants(Self.request(.push), at: 1401))
  }

  @Test("tokens are issued once, to a valid client, while user and proof are active")
  func refuses() {
    #expect(Self.grants())
    #expect(!Self.grants(Self.request(issued: 1105)))
    #expect(!Self.grants(Self.request(.push, issued: 1105)))
    #expect(!Self.grants(isProofInUse: false))
    for state in [.suspended, .deleted, nil] as [UserRecord.State?] { #expect(!Self.grants(user: state)) }
    var revoked = Self.client
    revoked.revoked = 1100
    #expect(!Self.grants(client: revoked))
  }
}
