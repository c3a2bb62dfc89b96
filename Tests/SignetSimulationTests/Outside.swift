import SignetTestKit
import SignetTransport
import SignetWire
import Synchronization

/// What is around the servers of a history: the clock, and the way to clients that are told how their requests ended.
///
/// It also brings servers down while they tell clients, and fails their steps.
final class Outside: WallClock, HTTPTransport {
  private struct State {
    var time: Int64 = 10_000
    var moment = 0
    var random: SplitMix64
    var notices: [Notice] = []
    var rounds: [Round] = []
    /// Since when servers stay up and all that is sent arrives, as in the end.
    var calmTime: Int64?

    mutating func tick() -> Int {
      moment += 1
      return moment
    }

    /// When the first of the rounds began that are under way.
    var began: Int { rounds.first { $0.ended == nil }?.began ?? moment }

    mutating func isLost(of server: Int) -> Bool {
      guard calmTime == nil else { return false }
      // All that a server is about goes with it.
      let isDown = rounds.contains { $0.server == server && $0.ended == nil && $0.isDown }
      return isDown || random.next() % 30 == 0
    }
  }

  /// A round of telling clients what is due.
  private struct Round {
    let server: Int
    let began: Int
    var ended: Int?
    /// What the clock has said meanwhile.
    var times: ClosedRange<Int64>
    var isDown = false
  }

  /// The server fell, its step was not begun, or the answer was lost.
  private struct Lost: Error {}

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed ^ 0x5EED))) }

  var now: Int64 { state.withLock(\.time) }

  /// The next moment; no two have the same number.
  func tick() -> Int { state.withLock { $0.tick() } }

  func pass(_ seconds: Int64) { state.withLock { $0.time += seconds } }

  /// What clients were told, in order.
  var notices: [Notice] { state.withLock(\.notices) }

  /// When what servers wrote by themselves at a time can have become durable, in moments; `nil` where no client was told then.
  func span(of time: Int64) -> (from: Int, to: Int)? {
    let rounds = state.withLock(\.rounds)
    var span: (from: Int, to: Int)?
    for round in rounds where round.times.contains(time) {
      let end = round.ended ?? .max
      span = (min(span?.from ?? round.began, round.began), max(span?.to ?? end, end))
    }
    return span
  }

  // MARK: Servers

  /// Has a server tell clients what is due; what goes wrong while `body` runs is decided here.
  func round(of server: Int, _ body: () async -> Void) async {
    let place = state.withLock { state in
      state.rounds.append(Round(server: server, began: state.tick(), times: state.time...state.time))
      return state.rounds.count - 1
    }
    await body()
    state.withLock { state in
      state.rounds[place].ended = state.tick()
      state.rounds[place].times = state.rounds[place].times.lowerBound...state.time
    }
  }

  /// A server goes down: nothing comes of what it is about.
  func bringDown(_ server: Int) {
    state.withLock { state in
      for place in state.rounds.indices
      where state.rounds[place].server == server && state.rounds[place].ended == nil {
        state.rounds[place].isDown = true
      }
    }
  }

  /// From now on nothing goes wrong any more.
  func calmDown() { state.withLock { $0.calmTime = $0.time } }

  /// When that began; now before.
  var calmTime: Int64 { state.withLock { $0.calmTime ?? $0.time } }

  /// A step of a server that tells clients: one of thirty is not begun, and nothing of a server that is down.
  func beginStep(of server: Int) throws {
    let isLost = state.withLock { $0.isLost(of: server) }
    if isLost { throw Lost() }
  }

  /// The end of such a step, whose answer is lost as often.
  func endStep(of server: Int) throws { try beginStep(of: server) }

  // MARK: Clients

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    var notice = Notice(request)
    return try state.withLock { state throws(TransportFailure) in
      let fate = state.calmTime != nil ? 9 : state.random.next() % 10
      guard fate > 2 else { throw .unreachable(code: 7) }
      (notice.moment, notice.began) = (state.tick(), state.began)
      state.notices.append(notice)
      // It has come, and the client or the way back is in trouble.
      if fate == 3 { throw .timedOut }
      return HTTPResponse(status: fate == 4 ? 503 : 204)
    }
  }
}
