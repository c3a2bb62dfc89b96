internal import Synchronization

/// All open connections, with limits on their number.
final class ConnectionRegistry: Sendable {
  private struct State {
    var connections: [Int32: Connection] = [:]
    var served = Tally()
    var refused = Tally()
    var waiters: [CheckedContinuation<Void, Never>] = []
    var hasStoppedWaiting = false
  }

  private struct Tally {
    private var total = 0
    private var counts: [PeerAddress.Network: Int] = [:]

    /// Counts one more; returns false if a limit is reached.
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

  /// Registers a connection; returns `nil` if even the limit of connections that are refused with an answer is reached.
  ///
  /// MHD reports no close for a connection that it dropped before it began; such an entry is removed when its descriptor is
  /// reused.
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
          || state.refused.add(
            peer.network, limit: limits.refusedConnectionCount,
            limitPerNetwork: limits.refusedConnectionCountPerAddress)
      else { return nil }
      // Connections to refuse get little time: others wait for the same answer.
      let timeout = isServed ? limits.requestDeadline : min(limits.requestDeadline, Self.refusalTimeout)
      let connection = Connection(
        descriptor: descriptor, peer: peer, wakeUps: wakeUps, heads: heads, isRefused: !isServed,
        deadline: time.now + timeout)
      state.connections[descriptor] = connection
      return connection
    }
  }

  /// The time that a connection to refuse has for the handshake and its request.
  private static let refusalTimeout: Duration = .seconds(5)

  func connection(_ descriptor: Int32) -> Connection? {
    state.withLock { $0.connections[descriptor] }
  }

  /// Removes a connection, if its descriptor still belongs to it.
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

  var all: [Connection] { state.withLock { Array($0.connections.values) } }

  /// Waits until no connection is left, or until ``stopWaiting()``.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let resumesAtOnce = state.withLock { state in
        guard !state.connections.isEmpty, !state.hasStoppedWaiting else { return true }
        state.waiters.append(continuation)
        return false
      }
      if resumesAtOnce { continuation.resume() }
    }
  }

  /// Ends the present wait and later ones.
  func stopWaiting() {
    let waiters = state.withLock { state in
      state.hasStoppedWaiting = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Lets ``waitUntilEmpty()`` wait again after ``stopWaiting()``.
  func allowWaiting() {
    state.withLock { $0.hasStoppedWaiting = false }
  }

  private static func remove(_ connection: Connection, from state: inout State) {
    state.connections[connection.descriptor] = nil
    if connection.isRefused {
      state.refused.remove(connection.peer.network)
    } else {
      state.served.remove(connection.peer.network)
    }
  }
}
