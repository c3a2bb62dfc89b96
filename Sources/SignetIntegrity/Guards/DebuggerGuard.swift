#if os(Linux)
  import CLinuxProcess
  import Synchronization

  /// A guard that looks for a tracer, such as gdb or strace.
  ///
  /// It reads `TracerPid` of each thread in `/proc`, which also shows a tracer of a single thread. It also tries to trace
  /// this process: that detects a tracer that hides or falsifies `/proc`, on systems that let processes trace each other. A
  /// debugger that has detached is not detected.
  public struct DebuggerGuard: Guard {
    /// The value `debugger`.
    public let name = "debugger"
    private let methods: Set<Method>

    /// A method to detect a tracer.
    package enum Method: Sendable {
      /// Read `TracerPid` of each thread.
      case status
      /// Let a child process try to trace this process.
      case probe
    }

    /// Creates a guard that uses both methods.
    public init() { self.init(methods: [.status, .probe]) }

    package init(methods: Set<Method>) { self.methods = methods }

    /// A process can have only one tracer: while one run's child traces, another run would report it as a debugger.
    private static let probeLock = Mutex(())
    private static let threadLimit = 4096

    /// Checks all threads, and tries to trace this process if none of them has a tracer.
    public func examine() throws -> [Evidence] {
      try Self.probeLock.withLock { _ in
        if methods.contains(.status), let found = try tracer() { return [found] }
        if methods.contains(.probe), signet_probe_tracer(500) == 1 {
          return [
            Evidence(
              .hiddenTracer,
              "a tracer that /proc does not show is attached to this process: the kernel does not admit another one"
            )
          ]
        }
        return []
      }
    }

    private func tracer() throws -> Evidence? {
      guard let threads = KernelFile.names(in: "/proc/self/task", limit: Self.threadLimit) else {
        throw GuardFailure("the threads of this process can't be listed in /proc")
      }
      for thread in threads {
        // A thread may have ended meanwhile; its status is then gone.
        guard let status = KernelFile.text("/proc/self/task/\(thread)/status", limit: 8192),
          let tracer = ProcessStatus.tracer(in: status), tracer != 0
        else { continue }
        let program = KernelFile.text("/proc/\(tracer)/comm", limit: 64)?.trimmingSuffix { $0.isNewline }
        let called = program.map { " (\($0))" } ?? ""
        return Evidence(.tracer, "process \(tracer)\(called) traces thread \(thread) of this process")
      }
      return nil
    }
  }
#endif
