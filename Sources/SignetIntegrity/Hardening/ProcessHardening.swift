#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// Protection of a process's memory from other processes of its user and from core dumps.
  public enum ProcessHardening {
    /// Disables core dumps of this process and its child processes.
    ///
    /// - Returns: True on success.
    @discardableResult public static func forbidCoreDumps() -> Bool {
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      return unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
    }

    /// Makes this process end at once when it crashes.
    ///
    /// Otherwise Swift's runtime starts a program that reads this process's memory and prints parts of it. If memory is
    /// closed, or starting programs is forbidden, the runtime waits for that program for ever, and the crashed process stays
    /// with its secrets.
    public static func forbidCrashReports() {
      for fault in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] { signal(fault, SIG_DFL) }
    }

    /// Closes memory: no core dumps, no crash reports, and no reading or tracing by other processes of the user.
    ///
    /// Root can still read and trace. Other processes of the user can also no longer identify this program, so the agent
    /// rejects it.
    ///
    /// - Returns: True on success.
    @discardableResult public static func closeMemory() -> Bool {
      forbidCrashReports()
      let hasNoCore = forbidCoreDumps()
      return signet_set_dumpable(0) == 0 && hasNoCore
    }

    /// True if other processes of the user may read this process's memory.
    public static var isOpen: Bool { signet_is_dumpable() != 0 }
  }
#endif
