#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Threads that are never joined.
public enum DetachedThread {
  /// Carries the closure to the thread.
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread.
  ///
  /// - Parameter body: The work.
  /// - Returns: False if the system cannot create a thread, for example for lack of memory.
  @discardableResult
  public static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = unsafe Unmanaged.passRetained(Work(body))
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        #if canImport(Glibc)
          guard let argument = unsafe argument else { return nil }
        #endif
        unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      unsafe work.release()
      return false
    }
    #if canImport(Glibc)
      pthread_detach(thread)
    #else
      if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #endif
    return true
  }
}

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
