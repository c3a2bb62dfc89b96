import Synchronization

/// A queue of steps, and the list of its idle workers.
final class StepQueue: Sendable {
  struct Item: Sendable {
    let step: SQLStep
    let access: SQLAccess
  }

  private struct State {
    var items: [Item] = []
    /// The index of the first waiting item; those before it were dequeued.
    var first = 0
    var idle: [Int]
    var isClosed = false
    var closing: [CheckedContinuation<Void, Never>] = []
  }

  private let workerCount: Int
  private let state: Mutex<State>

  init(workerCount: Int) {
    self.workerCount = workerCount
    state = Mutex(State(idle: Array((0..<workerCount).reversed())))
  }

  var count: Int { state.withLock { $0.items.count - $0.first } }

  /// Adds a step.
  ///
  /// - Returns: The worker to wake; `nil` if none is idle.
  /// - Throws: ``SQLFailure/closed``.
  func add(_ item: Item) throws(SQLFailure) -> Int? {
    try state.withLock { state throws(SQLFailure) in
      guard !state.isClosed else { throw .closed }
      state.items.append(item)
      return state.idle.popLast()
    }
  }

  /// Removes and returns the steps that have waited longest and have the same access; an empty result marks the worker as idle.
  func dequeue(atMost limit: Int, worker: Int) -> ArraySlice<Item> {
    let (items, closing) = state.withLock { state -> (ArraySlice<Item>, [CheckedContinuation<Void, Never>]) in
      let bound = min(state.items.count, state.first + limit)
      var end = state.first
      while end < bound, state.items[end].access == state.items[state.first].access { end += 1 }
      let items = state.items[state.first..<end]
      if end == state.items.count {
        (state.items, state.first) = ([], 0)
      } else {
        state.first = end
        if state.first >= 1_024 {
          state.items.removeFirst(state.first)
          state.first = 0
        }
      }
      guard items.isEmpty else { return (items, []) }
      state.idle.append(worker)
      guard state.idle.count == workerCount else { return ([], []) }
      defer { state.closing = [] }
      return ([], state.closing)
    }
    for continuation in closing { continuation.resume() }
    return items
  }

  /// Rejects further steps and waits for the pending ones.
  func close() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        state.isClosed = true
        let isDone = state.items.count == state.first && state.idle.count == workerCount
        if !isDone { state.closing.append(continuation) }
        return isDone
      }
      if isDone { continuation.resume() }
    }
  }
}
