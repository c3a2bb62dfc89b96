internal import Synchronization

/// Every open connection, with the limits on how many there may be.
final class LinkRegistry: Sendable {
  private struct State {
    var links: [Int32: Link] = [:]
    var counts: [PeerAddress.Network: Int] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isWaitingOver = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private let limitPerNetwork: Int

  init(limit: Int, limitPerNetwork: Int) {
    self.limit = limit
    self.limitPerNetwork = limitPerNetwork
  }

  /// Enters a connection, unless there are too many.
  ///
  /// A connection that MHD dropped before it began is never reported closed; its place is given up when its
  /// descriptor comes back.
  func admit(_ link: Link) -> Bool {
    state.withLock { state in
      if let stale = state.links[link.descriptor] { Self.remove(stale, from: &state) }
      guard state.links.count < limit, state.counts[link.peer.network, default: 0] < limitPerNetwork else {
        return false
      }
      state.links[link.descriptor] = link
      state.counts[link.peer.network, default: 0] += 1
      return true
    }
  }

  /// The connection that has this descriptor.
  func link(_ descriptor: Int32) -> Link? {
    state.withLock { $0.links[descriptor] }
  }

  /// Takes a connection out, if it is still the one of its descriptor.
  func remove(_ link: Link) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.links[link.descriptor] === link else { return [] }
      Self.remove(link, from: &state)
      guard state.links.isEmpty else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The connections of this moment.
  var all: [Link] { state.withLock { Array($0.links.values) } }

  /// Waits until the last connection is gone, or until ``stopWaiting()``.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        guard !state.links.isEmpty, !state.isWaitingOver else { return true }
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

  private static func remove(_ link: Link, from state: inout State) {
    state.links[link.descriptor] = nil
    let rest = state.counts[link.peer.network, default: 1] - 1
    state.counts[link.peer.network] = rest > 0 ? rest : nil
  }
}
