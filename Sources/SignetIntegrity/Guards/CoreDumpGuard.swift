#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// A guard that detects whether a crash would write this process's memory, with its secrets, to a file.
  ///
  /// ``ProcessHardening`` prevents it.
  public struct CoreDumpGuard: Guard {
    /// The value `core-dumps`.
    public let name = "core-dumps"

    /// Creates a guard of this process.
    public init() {}

    /// Checks the core limit, and whether the process is dumpable.
    public func examine() -> [Evidence] {
      guard signet_is_dumpable() != 0 else { return [] }
      var limit = rlimit()
      guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_cur > 0
      else {
        return []
      }
      return [
        Evidence(.coreDumps, "a crash would write the memory of this program, including secrets, to a file")
      ]
    }
  }
#endif
