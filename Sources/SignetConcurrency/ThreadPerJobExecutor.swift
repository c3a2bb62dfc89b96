/// Runs each piece of a task on a thread of its own, so that one that blocks, or never ends, holds no thread of the shared pool.
///
/// For code of others that is not known to behave. Dispatch does not serve: on Linux it gives a queue as many threads as there are
/// cores, and waits when they block. Threads are not bounded here: who uses this starts nothing again that has not come back.
public final class ThreadPerJobExecutor: TaskExecutor {
  private let label: String

  /// Creates an executor.
  ///
  /// - Parameter label: What debuggers and crash reports show.
  public init(label: String) { self.label = label }

  /// Runs `job` on a new thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    let isRun = DetachedThread.start { unsafe job.runSynchronously(on: executor) }
    // A job can't be given back, and its task would wait for ever.
    precondition(isRun, "the system has no thread left for \(label)")
  }
}
