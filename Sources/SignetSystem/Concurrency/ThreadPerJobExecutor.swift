/// Runs each job of a task on its own thread, so that a job which blocks or never ends occupies no thread of the shared pool.
///
/// It is for foreign code that may misbehave. Dispatch is not suitable: on Linux it gives a queue as many threads as there are
/// cores, and waits when they block. The number of threads is not limited here, so the caller must not restart an operation that
/// has not ended.
public final class ThreadPerJobExecutor: TaskExecutor {
  private let label: String

  /// Creates an executor.
  ///
  /// - Parameter label: The name in debuggers and crash reports.
  public init(label: String) { self.label = label }

  /// Runs `job` on a new thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    let isRun = DetachedThread.start { unsafe job.runSynchronously(on: executor) }
    // A job cannot be rejected; if it did not run, its task would wait forever.
    precondition(isRun, "the system has no thread left for \(label)")
  }
}
