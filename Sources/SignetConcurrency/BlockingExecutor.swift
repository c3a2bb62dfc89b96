import Dispatch

/// Runs an actor's work on a thread that may block, one job at a time and in order.
///
/// SQLite, Argon2 and TPM calls block for milliseconds; on Swift's shared pool, which has one thread for each core, a few of
/// them would stop everything else. An actor that makes such calls lives on one of these:
///
/// ```swift
/// actor Ledger {
///   private let executor = BlockingExecutor(label: "ledger")
///   nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// }
/// ```
///
/// `DispatchSerialQueue` would serve, but is missing from Dispatch on Linux. Two actors given the same executor share its
/// thread and can use one connection. The actor must keep the executor alive, as above.
public final class BlockingExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates an executor with a queue of its own.
  ///
  /// - Parameter label: What debuggers and crash reports show.
  public init(label: String) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  /// Runs `job` after all that were enqueued before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedSerialExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }

  /// Runs `body` after all that were enqueued before it; nobody waits.
  public func begin(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }

  /// Runs `body` after all that were enqueued before it, and waits without holding a thread of the shared pool.
  public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// Runs `body` after all that were enqueued before it, and holds the thread until then: for callbacks that cannot be `async`.
  ///
  /// - Precondition: Not called on this executor's queue.
  public func wait<Value: Sendable>(for body: @Sendable () -> Value) -> Value {
    dispatchPrecondition(condition: .notOnQueue(queue))
    return queue.sync(execute: body)
  }

  /// Ends the process unless called on this executor's queue; the runtime asks for `assumeIsolated`.
  public func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}
