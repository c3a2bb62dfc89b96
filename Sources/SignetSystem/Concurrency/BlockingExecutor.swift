import Dispatch

/// Runs an actor's work on a thread that may block, one job at a time and in order.
///
/// SQLite, Argon2 and TPM calls block for milliseconds. Swift's shared pool has one thread for each core, so a few such
/// calls would stop all other tasks. An actor that makes such calls uses this executor:
///
/// ```swift
/// actor Ledger {
///   private let executor = BlockingExecutor(label: "ledger")
///   nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// }
/// ```
///
/// `DispatchSerialQueue` would be an alternative, but is missing from Dispatch on Linux. Two actors with the same executor
/// share its thread and can use one connection. The actor must keep the executor alive, as above.
public final class BlockingExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates an executor with its own queue.
  ///
  /// - Parameter label: The name in debuggers and crash reports.
  public init(label: String) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  /// Runs `job` after all jobs that were enqueued before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedSerialExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }

  /// Runs `body` after all jobs that were enqueued before it; the caller does not wait.
  public func begin(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }

  /// Runs `body` after all jobs that were enqueued before it, and waits without blocking a thread of the shared pool.
  public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// Runs `body` after all jobs that were enqueued before it, and blocks the thread: for callbacks that cannot be `async`.
  ///
  /// - Precondition: Not called on this executor's queue.
  public func wait<Value: Sendable>(for body: @Sendable () -> Value) -> Value {
    dispatchPrecondition(condition: .notOnQueue(queue))
    return queue.sync(execute: body)
  }

  /// Ends the process unless called on this executor's queue; the runtime calls it for `assumeIsolated`.
  public func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}

/// A serial executor that also runs plain closures, in the order of submission.
///
/// Code with blocking work, such as a database connection, gets an executor at creation: a ``DedicatedThread`` in a program,
/// or an executor driven by a seeded scheduler in a simulation.
package protocol StepExecutor: SerialExecutor {
  /// Runs `body` after all work that was submitted before it; the caller does not wait.
  func begin(_ body: @escaping @Sendable () -> Void)
}

extension BlockingExecutor: StepExecutor {}
