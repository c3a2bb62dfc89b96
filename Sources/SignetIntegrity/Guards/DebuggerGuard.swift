#if os(Linux)
  import CLinuxProcess
  import Synchronization

  /// Looks for a tracer, such as gdb or strace: by what `/proc` says of each thread, and by trying to trace this process.
  ///
  /// A tracer of one thread only is seen too. Who hides `/proc`, or lies in it, is met by the second way, where the system lets
  /// processes trace each other; a debugger that has left is not seen.
  public struct DebuggerGuard: Guard {
    /// `debugger`.
    public let name = "debugger"
    private let ways: Set<Way>

    /// A way to find a tracer.
    package enum Way: Sendable {
      /// `TracerPid` of each thread.
      case status
      /// A child tries to trace this process.
      case probe
    }

    /// Looks both ways.
    public init() { self.init(ways: [.status, .probe]) }

    package init(ways: Set<Way>) { self.ways = ways }

    /// A process can have one tracer: while a child of ours is it, another look would take it for a debugger.
    private static let turn = Mutex(())
    private static let threadLimit = 4096

    /// Looks at all threads, and tries to trace this process where none of them shows a tracer.
    public func examine() throws -> [Evidence] {
      try Self.turn.withLock { _ in
        if ways.contains(.status), let found = try tracer() { return [found] }
        if ways.contains(.probe), signet_probe_tracer(500) == 1 {
          return [
            Evidence(
              .hiddenTracer,
              "something traces this process that /proc does not show: the kernel lets nobody else do so")
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
        // A thread may have ended since; its status is gone with it.
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
