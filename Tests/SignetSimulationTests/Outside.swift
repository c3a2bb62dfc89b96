import SignetHTTPClient
import SignetProtocol
import SignetSystem
import SignetTestKit
import Synchronization

/// The environment of a history's servers: the clock, and the network to the clients' notification endpoints.
///
/// It also crashes servers while they notify clients, and fails their steps.
final class Outside: WallClock, HTTPTransport {
  private struct State {
    var time: Int64 = 10_000
    var moment = 0
    var random: SplitMix64
    var notices: [Notice] = []
    var rounds: [Round] = []
    /// The time since which there are no faults any more, at the end of a history.
    var calmTime: Int64?

    mutating func tick() -> Int {
      moment += 1
      return moment
    }

    /// The beginning of the first round in progress.
    var began: Int { rounds.first { $0.ended == nil }?.began ?? moment }

    mutating func isLost(of server: Int) -> Bool {
      guard calmTime == nil else { return false }
      // All current work of a server ends with it.
      let isDown = rounds.contains { $0.server == server && $0.ended == nil && $0.isDown }
      return isDown || random.next() % 30 == 0
    }
  }

  /// A round of due notifications.
  private struct Round {
    let server: Int
    let began: Int
    var ended: Int?
    /// The range of the clock during the round.
    var times: ClosedRange<Int64>
    var isDown = false
  }

  /// The server crashed, its step was not begun, or the answer was lost.
  private struct Lost: Error {}

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed ^ 0x5EED))) }

  var now: Int64 { state.withLock(\.time) }

  /// Returns the next moment; no two are equal.
  func tick() -> Int { state.withLock { $0.tick() } }

  func pass(_ seconds: Int64) { state.withLock { $0.time += seconds } }

  /// The notifications in order.
  var notices: [Notice] { state.withLock(\.notices) }

  /// The span of moments in which a server's own entry of a time can have become durable; `nil` if no round ran then.
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

  /// Runs a server's round of due notifications in `body`, with its faults.
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

  /// Crashes a server: its current work has no further effect.
  func bringDown(_ server: Int) {
    state.withLock { state in
      for place in state.rounds.indices
      where state.rounds[place].server == server && state.rounds[place].ended == nil {
        state.rounds[place].isDown = true
      }
    }
  }

  /// Ends all faults.
  func calmDown() { state.withLock { $0.calmTime = $0.time } }

  /// The time of that end; the current time before.
  var calmTime: Int64 { state.withLock { $0.calmTime ?? $0.time } }

  /// Begins a step of a notifying server: one of thirty is not begun, and none of a crashed server.
  func beginStep(of server: Int) throws {
    let isLost = state.withLock { $0.isLost(of: server) }
    if isLost { throw Lost() }
  }

  /// Ends such a step, whose answer is lost as often.
  func endStep(of server: Int) throws { try beginStep(of: server) }

  // MARK: Clients

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    var notice = Notice(request)
    return try state.withLock { state throws(TransportFailure) in
      let fate = state.calmTime != nil ? 9 : state.random.next() % 10
      guard fate > 2 else { throw .unreachable(code: 7) }
      (notice.moment, notice.began) = (state.tick(), state.began)
      state.notices.append(notice)
      // It has arrived, but the client or the response fails.
      if fate == 3 { throw .timedOut }
      return HTTPResponse(status: fate == 4 ? 503 : 204)
    }
  }
}
