import SignetServerTesting
import SignetStorage
import Testing

/// The operations by which a request still asks UAF keys.
@Suite struct UAFOpenOperationsRulesTests {
  private static func request(alone: Bool = false) -> TransactionRecord {
    var request = TransactionRecord.rule()
    if alone { request.soleKind = .uaf }
    return request
  }

  private static func operation(
    _ state: UAFOperationRecord.State, until end: Int64, target: ID<UAFTargetRecord>? = nil
  ) -> UAFOperationRecord {
    var operation = UAFOperationRecord(
      id: "s1", operation: "Auth", user: "alice", created: 1000, expires: state == .requested ? end : 9999,
      state: state)
    (operation.target, operation.tokenExpires) = (target, state == .requested ? 1 : end)
    return operation
  }

  @Test(
    "an operation is open until it or its request expires",
    arguments: [UAFOperationRecord.State.tokenCreated, .requested])
  func ways(_ state: UAFOperationRecord.State) {
    func targets(until end: Int64, at time: Int64) -> [ID<UAFTargetRecord>] {
      UAFRequestChannels(
        of: Self.request(), [Self.operation(state, until: end, target: "d1")], isClients: true, at: time
      ).targets
    }
    #expect(targets(until: 1200, at: 1199) == ["d1"])
    #expect(targets(until: 1200, at: 1200) == [])
    #expect(targets(until: 1200, at: 1201) == [])
    #expect(targets(until: 1300, at: 1299) == ["d1"])
    for time in [1300, 1301] as [Int64] { #expect(targets(until: 1300, at: time) == ["d1"]) }
  }

  @Test("a request for UAF alone has only its own operation")
  func askers() {
    func mayAsk(_ request: TransactionRecord, _ operations: [UAFOperationRecord], isClients: Bool = false)
      -> Bool
    {
      UAFRequestChannels(of: request, operations, isClients: isClients, at: 1199).mayRequesterAsk
    }
    let (own, over) = (Self.operation(.requested, until: 1200), Self.operation(.requested, until: 1199))
    let sent = Self.operation(.tokenCreated, until: 1200, target: "d1")
    #expect(mayAsk(Self.request(), []))
    #expect(!mayAsk(Self.request(), [own], isClients: true))
    #expect(mayAsk(Self.request(alone: true), [over, own]))
    #expect(!mayAsk(Self.request(alone: true), [over, sent]))
    #expect(!mayAsk(Self.request(alone: true), []))
  }
}
