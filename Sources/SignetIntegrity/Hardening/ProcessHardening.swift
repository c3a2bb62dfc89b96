#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// What keeps a process's memory from other processes of its user, and from the disk.
  public enum ProcessHardening {
    /// Has the system write no core dumps of this process and of those that it starts.
    ///
    /// - Returns: Whether the system did so.
    @discardableResult public static func forbidCoreDumps() -> Bool {
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      return unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
    }

    /// Has this process end at once where it crashes.
    ///
    /// Swift's runtime starts a program then that reads this one's memory and prints some of it. Where memory is closed or
    /// starting programs is forbidden it waits for that program for ever, and what has crashed stays, with its secrets.
    public static func forbidCrashReports() {
      for fault in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] { signal(fault, SIG_DFL) }
    }

    /// Has the system write no core dumps, and let no other process of the user read this one's memory or trace it; nor is
    /// anything of it told where it crashes.
    ///
    /// Whoever is root can still do both. Nobody of the user can see any more which program this is, either, so that the agent does
    /// not let it in.
    ///
    /// - Returns: Whether the system did so.
    @discardableResult public static func closeMemory() -> Bool {
      forbidCrashReports()
      let hasNoCore = forbidCoreDumps()
      return signet_set_dumpable(0) == 0 && hasNoCore
    }

    /// Whether other processes of the user may read this one's memory.
    public static var isOpen: Bool { signet_is_dumpable() != 0 }
  }
#endif
