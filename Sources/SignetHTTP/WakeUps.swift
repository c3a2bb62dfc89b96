internal import Synchronization

/// The suspended connections of a polling thread that have their answers.
///
/// Each resumption is a call into the kernel, and the first one wakes the thread. So whoever answers resumes one
/// connection only, and the thread itself, awake by then, those that were answered meanwhile: commits of many requests
/// wake it once.
package final class WakeUps<Connection: Equatable & Sendable>: Sendable {
  private struct State {
    /// The connection that was resumed, until its callback comes.
    var first: Connection?
    /// Those that were answered since.
    var others: [Connection] = []
    var isOver = false
  }

  private let state = Mutex(State())
  private let resume: @Sendable (Connection) -> Void

  /// Makes a list that resumes connections by a call into the kernel.
  package init(resume: @escaping @Sendable (Connection) -> Void) { self.resume = resume }

  /// Has a suspended connection resumed, which nobody else does; on any thread.
  package func add(_ connection: Connection) {
    let isNow = state.withLock { state in
      if state.isOver { return true }
      guard state.first == nil else {
        state.others.append(connection)
        return false
      }
      state.first = connection
      return true
    }
    if isNow { resume(connection) }
  }

  /// Resumes those that were answered since `connection` was, if it was the first; on the polling thread, in a callback
  /// of that connection.
  package func resumeOthers(after connection: Connection) {
    let others = state.withLock { state -> [Connection] in
      guard state.first == connection else { return [] }
      state.first = nil
      defer { state.others = [] }
      return state.others
    }
    for connection in others { resume(connection) }
  }

  /// Resumes all that were answered, and from now on each at once: a thread that is to stop may have no callback any more, and no
  /// suspended connection.
  package func resumeAll() {
    let others = state.withLock { state -> [Connection] in
      state.isOver = true
      defer { state.others = [] }
      return state.others
    }
    for connection in others { resume(connection) }
  }
}
