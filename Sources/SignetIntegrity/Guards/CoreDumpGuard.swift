#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// Says whether a crash would write this process's memory, with its secrets, to a file.
  ///
  /// ``ProcessHardening`` prevents it.
  public struct CoreDumpGuard: Guard {
    /// `core-dumps`.
    public let name = "core-dumps"

    /// A guard of this process.
    public init() {}

    /// Looks at the limit, and at whether memory is closed.
    public func examine() -> [Evidence] {
      guard signet_is_dumpable() != 0 else { return [] }
      var limit = rlimit()
      guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_cur > 0
      else {
        return []
      }
      return [
        Evidence(.coreDumps, "a crash would write the memory of this program, secrets and all, to a file")
      ]
    }
  }
#endif
