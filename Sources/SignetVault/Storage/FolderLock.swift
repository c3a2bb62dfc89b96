#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock on a file, which the system releases when the process ends.
///
/// It excludes other processes, and other code in this process that opens the file itself.
package final class FolderLock {
  /// The sharing and waiting behavior of a lock.
  package enum Mode {
    /// Shared with any number of other shared holders; waits for an exclusive holder.
    case shared
    /// Exclusive; waits up to this duration for the current holder.
    case exclusive(within: Duration)
  }

  /// Microseconds between two attempts to lock: a call that waits in the kernel has no time-out.
  private static let pause: UInt32 = 1_000

  private let descriptor: Int32

  /// Locks the file; creates it with mode 0600 if it is missing.
  ///
  /// - Returns: `nil` if an exclusive lock was requested and is not available in time.
  /// - Throws: ``VaultFailure``: `folderUnavailable`; `diskFull` and `folderReadOnly` if the file cannot be created.
  package init?(_ path: String, _ mode: Mode) throws(VaultFailure) {
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard opened >= 0 else {
      switch errno {
      case ENOSPC, EDQUOT: throw .diskFull
      case EACCES, EROFS, EPERM: throw .folderReadOnly(path: path)
      case let code: throw .folderUnavailable(path: path, errno: code)
      }
    }
    descriptor = opened
    let (operation, limit) =
      switch mode {
      case .shared: (LOCK_SH, Duration.zero)
      case .exclusive(let limit): (LOCK_EX | LOCK_NB, limit)
      }
    let start = ContinuousClock.now
    while flock(opened, operation) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK where ContinuousClock.now - start < limit: usleep(Self.pause)
      case EWOULDBLOCK: return nil
      case let code: throw .folderUnavailable(path: path, errno: code)
      }
    }
  }

  package func release() { _ = flock(descriptor, LOCK_UN) }

  deinit { close(descriptor) }
}
