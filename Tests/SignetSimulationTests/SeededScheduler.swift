import SignetSystem
import SignetTestKit
import Synchronization

/// Runs all tasks of a simulation, and the steps of its database, on one thread in an order given by a seed.
///
/// There is no timer and no other thread, so a seed gives the same run each time.
final class SeededScheduler: TaskExecutor {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var random: SplitMix64
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    add { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  func add(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(body) } }

  /// Runs the waiting jobs, one after the other, until there are none.
  func run() {
    while let body = next() { body() }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      let place = Int(state.random.next() % UInt64(state.waiting.count))
      state.waiting.swapAt(place, state.waiting.count - 1)
      return state.waiting.removeLast()
    }
  }
}

/// The "thread" of a connection: the scheduler runs its work between that of the tasks.
final class ScheduledExecutor: StepExecutor {
  private let scheduler = Mutex<SeededScheduler?>(nil)

  /// Uses a scheduler for all further work.
  func use(_ scheduler: SeededScheduler) { self.scheduler.withLock { $0 = scheduler } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    begin { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  func begin(_ body: @escaping @Sendable () -> Void) {
    guard let scheduler = scheduler.withLock(\.self) else { preconditionFailure("no scheduler is in use") }
    scheduler.add(body)
  }

  /// One thread runs everything.
  func checkIsolated() {}
}
