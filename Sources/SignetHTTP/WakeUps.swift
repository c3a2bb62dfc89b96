internal import Synchronization

/// The suspended connections of a polling thread that have their answers.
///
/// Each resumption is a call into the kernel, and the first one wakes the thread. So whoever answers resumes one
/// connection only, and the thread itself, awake by then, those that were answered meanwhile: commits of many requests
/// wake it once.
final class WakeUps: Sendable {
  private struct State {
    /// The connection that was resumed, until its callback comes.
    var first: ConnectionHandle?
    /// Those that were answered since.
    var others: [ConnectionHandle] = []
  }

  private let state = Mutex(State())

  /// Has a suspended connection resumed, which nobody else does; on any thread.
  func add(_ connection: ConnectionHandle) {
    let isFirst = state.withLock { state in
      guard state.first == nil else {
        state.others.append(connection)
        return false
      }
      state.first = connection
      return true
    }
    if isFirst { connection.resume() }
  }

  /// Resumes those that were answered since `connection` was, if it was the first; on the polling thread, in a callback
  /// of that connection.
  func resumeOthers(after connection: ConnectionHandle) {
    let others = state.withLock { state -> [ConnectionHandle] in
      guard state.first == connection else { return [] }
      state.first = nil
      defer { state.others = [] }
      return state.others
    }
    for connection in others { connection.resume() }
  }
}
