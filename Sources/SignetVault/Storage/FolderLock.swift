#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock on a file, which the system takes back with the process.
package final class FolderLock {
  /// Who may hold it at the same time.
  package enum Mode {
    /// Any number of others that share it; waits for one that has it alone.
    case shared
    /// Nobody; does not wait.
    case alone
  }

  private let descriptor: Int32

  /// Takes the lock; the file is made where it is missing, with mode 0600.
  ///
  /// - Returns: `nil` if others hold it, and it is wanted alone.
  /// - Throws: ``VaultFailure/folderUnavailable(path:errno:)``.
  package init?(_ path: String, _ mode: Mode) throws(VaultFailure) {
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard opened >= 0 else { throw .folderUnavailable(path: path, errno: errno) }
    let operation = mode == .shared ? LOCK_SH : LOCK_EX | LOCK_NB
    var result: Int32
    repeat { result = flock(opened, operation) } while result != 0 && errno == EINTR
    let code = errno
    descriptor = opened
    if result == 0 { return }
    guard code == EWOULDBLOCK else { throw .folderUnavailable(path: path, errno: code) }
    return nil
  }

  /// Lets go of the lock.
  package func release() { _ = flock(descriptor, LOCK_UN) }

  deinit { close(descriptor) }
}
