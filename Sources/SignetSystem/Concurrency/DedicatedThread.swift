import Dispatch
import Synchronization

/// A serial executor with its own thread, from its creation until its last reference is released.
///
/// Dispatch has as many threads as there are cores, and waits when they block. Connections to a database server block for as
/// long as the network takes, and there are more of them than cores.
package final class DedicatedThread: StepExecutor {
  private let mailbox = PendingWork()

  /// Starts the thread.
  ///
  /// - Precondition: The system can create a thread.
  package init() {
    let isStarted = DetachedThread.start { [mailbox] in mailbox.run() }
    precondition(isStarted, "the system has no thread left")
  }

  deinit { mailbox.end() }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    begin { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  package func begin(_ body: @escaping @Sendable () -> Void) { mailbox.add(body) }

  package func checkIsolated() {
    precondition(mailbox.isCurrentThread, "called on another thread than the executor's")
  }
}

/// The closures that wait for a thread.
private final class PendingWork: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var isEnded = false
    var isAsleep = false
  }

  /// The mailbox of the current thread.
  @TaskLocal private static var current: ObjectIdentifier?

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  var isCurrentThread: Bool { Self.current == ObjectIdentifier(self) }

  func add(_ body: @escaping @Sendable () -> Void) {
    let wakes = state.withLock { state in
      state.waiting.append(body)
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    if wakes { wake.signal() }
  }

  func end() {
    let wakes = state.withLock { state in
      state.isEnded = true
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    if wakes { wake.signal() }
  }

  func run() { Self.$current.withValue(ObjectIdentifier(self)) { loop() } }

  private func loop() {
    while true {
      let (batch, isEnded) = state.withLock { state in
        defer { state.waiting = [] }
        state.isAsleep = state.waiting.isEmpty && !state.isEnded
        return (state.waiting, state.isEnded)
      }
      for body in batch { body() }
      guard batch.isEmpty else { continue }
      if isEnded { return }
      wake.wait()
    }
  }
}
