internal import Synchronization

/// The suspended connections of a polling thread whose answers are ready.
///
/// Each resumption is a system call, and the first one wakes the thread. The answering thread therefore resumes only the
/// first connection. The polling thread, now awake, resumes those that were answered meanwhile: answers to many requests
/// wake it once.
package final class WakeUps<Connection: Equatable & Sendable>: Sendable {
  private struct State {
    /// The connection that was resumed, until its callback runs.
    var first: Connection?
    /// The connections that were answered since.
    var others: [Connection] = []
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let resume: @Sendable (Connection) -> Void

  /// Creates a list that resumes connections with `resume`, a system call.
  package init(resume: @escaping @Sendable (Connection) -> Void) { self.resume = resume }

  /// Resumes a suspended connection, now or after the first one; called on any thread, once per suspension.
  package func add(_ connection: Connection) {
    let isNow = state.withLock { state in
      if state.hasEnded { return true }
      guard state.first == nil else {
        state.others.append(connection)
        return false
      }
      state.first = connection
      return true
    }
    if isNow { resume(connection) }
  }

  /// Resumes the connections that were answered after `connection`, if it was the first; called on the polling thread, in a
  /// callback of that connection.
  package func resumeOthers(after connection: Connection) {
    let others = state.withLock { state -> [Connection] in
      guard state.first == connection else { return [] }
      state.first = nil
      defer { state.others = [] }
      return state.others
    }
    for connection in others { resume(connection) }
  }

  /// Resumes all answered connections, and later ones at once.
  ///
  /// A thread that is about to stop may have no callback any more, and must have no suspended connection.
  package func resumeAll() {
    let others = state.withLock { state -> [Connection] in
      state.hasEnded = true
      defer { state.others = [] }
      return state.others
    }
    for connection in others { resume(connection) }
  }
}
