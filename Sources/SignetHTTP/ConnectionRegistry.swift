internal import Synchronization

/// Every open connection, with the limits on how many there may be.
final class ConnectionRegistry: Sendable {
  private struct State {
    var connections: [Int32: Connection] = [:]
    var served = Tally()
    var turnedAway = Tally()
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isWaitingOver = false
  }

  /// How many connections there are, in all and of each network.
  private struct Tally {
    private var total = 0
    private var counts: [PeerAddress.Network: Int] = [:]

    /// Counts one more, unless there are as many as there may be.
    mutating func add(_ network: PeerAddress.Network, limit: Int, limitPerNetwork: Int) -> Bool {
      let count = counts[network, default: 0]
      guard total < limit, count < limitPerNetwork else { return false }
      (total, counts[network]) = (total + 1, count + 1)
      return true
    }

    mutating func remove(_ network: PeerAddress.Network) {
      guard let count = counts[network] else { return }
      (total, counts[network]) = (total - 1, count > 1 ? count - 1 : nil)
    }
  }

  private let state = Mutex(State())
  private let limits: ServerLimits
  private let time: ServerTime

  init(_ limits: ServerLimits, _ time: ServerTime) { (self.limits, self.time) = (limits, time) }

  /// Enters a connection, unless there are too many even of those that are turned away with an answer.
  ///
  /// A connection that MHD dropped before it began is never reported closed; its place is given up when its
  /// descriptor comes back.
  func admit(_ descriptor: Int32, _ peer: PeerAddress, wakeUps: WakeUps<ConnectionHandle>, heads: UnreadHeads)
    -> Connection?
  {
    let limits = limits
    return state.withLock { state in
      if let stale = state.connections[descriptor] { Self.remove(stale, from: &state) }
      let isServed = state.served.add(
        peer.network, limit: limits.connectionCount, limitPerNetwork: limits.connectionCountPerAddress)
      guard
        isServed
          || state.turnedAway.add(
            peer.network, limit: limits.turnedAwayCount, limitPerNetwork: limits.turnedAwayCountPerAddress)
      else { return nil }
      // Who is turned away has no time to lose: others wait to be told the same.
      let patience = isServed ? limits.requestDeadline : min(limits.requestDeadline, Self.farewellTime)
      let connection = Connection(
        descriptor: descriptor, peer: peer, wakeUps: wakeUps, heads: heads, isTurnedAway: !isServed,
        deadline: time.now + patience)
      state.connections[descriptor] = connection
      return connection
    }
  }

  /// How long a connection that is turned away has for the handshake and its request.
  private static let farewellTime: Duration = .seconds(5)

  /// The connection that has this descriptor.
  func connection(_ descriptor: Int32) -> Connection? {
    state.withLock { $0.connections[descriptor] }
  }

  /// Takes a connection out, if it is still the one of its descriptor.
  func remove(_ connection: Connection) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.connections[connection.descriptor] === connection else { return [] }
      Self.remove(connection, from: &state)
      guard state.connections.isEmpty else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The connections of this moment.
  var all: [Connection] { state.withLock { Array($0.connections.values) } }

  /// Waits until the last connection is gone, or until ``stopWaiting()``.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        guard !state.connections.isEmpty, !state.isWaitingOver else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Ends the present wait.
  func stopWaiting() {
    let waiters = state.withLock { state in
      state.isWaitingOver = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Lets ``waitUntilEmpty()`` wait again after ``stopWaiting()``.
  func allowWaiting() {
    state.withLock { $0.isWaitingOver = false }
  }

  private static func remove(_ connection: Connection, from state: inout State) {
    state.connections[connection.descriptor] = nil
    if connection.isTurnedAway {
      state.turnedAway.remove(connection.peer.network)
    } else {
      state.served.remove(connection.peer.network)
    }
  }
}
