#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// What keeps other processes of the user out of the agent's memory.
  public enum MemoryProtection {
    /// Has the system write no core dumps of this process, and let no other process of the user read its memory or trace it.
    ///
    /// Whoever is root can still do both.
    ///
    /// - Returns: Whether the system did so.
    public static func begin() -> Bool {
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      let hasNoCore = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
      return signet_set_dumpable(0) == 0 && hasNoCore
    }

    /// Whether other processes of the user may read this one's memory.
    public static var isOpen: Bool { signet_is_dumpable() != 0 }
  }
#endif
