#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock on a file, which the system takes back with the process.
///
/// It keeps out other processes, and others in this process who open the file themselves.
package final class FolderLock {
  /// Who may hold it at the same time.
  package enum Mode {
    /// Any number of others that share it; waits for one that has it alone.
    case shared
    /// Nobody; does not wait.
    case alone
    /// Nobody; waits for whoever holds it, for so long.
    case inTurn(within: Duration)
  }

  /// Microseconds between two looks at a lock that others hold: a call that waits in the kernel has no time limit.
  private static let pause: UInt32 = 1_000

  private let descriptor: Int32

  /// Takes the lock; the file is made where it is missing, with mode 0600.
  ///
  /// - Returns: `nil` if others hold it, and it is wanted alone.
  /// - Throws: ``VaultFailure``: `folderUnavailable`; `diskFull` and `folderReadOnly` where the file cannot be made.
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
      case .alone: (LOCK_EX | LOCK_NB, Duration.zero)
      case .inTurn(let limit): (LOCK_EX | LOCK_NB, limit)
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

  /// Lets go of the lock.
  package func release() { _ = flock(descriptor, LOCK_UN) }

  deinit { close(descriptor) }
}
