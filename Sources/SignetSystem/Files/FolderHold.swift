#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock that marks a folder as used by this process; the system releases it when the process ends.
package final class FolderHold: Sendable {
  /// The sharing behavior of a lock.
  package enum Mode: Sendable {
    /// Shared with any number of other shared holders.
    case shared
    /// Exclusive.
    case exclusive
  }

  private let descriptor: Int32

  /// Locks a folder; does not wait.
  ///
  /// - Returns: `nil` if another process, or another holder in this one, has a conflicting lock.
  /// - Throws: ``FileFailure``.
  package init?(_ path: String, _ mode: Mode) throws(FileFailure) {
    let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw errno == ENOENT ? .missing : .last("open") }
    descriptor = opened
    guard try Self.lock(opened, mode) else { return nil }
  }

  /// Makes the lock exclusive; returns false if there are other holders.
  ///
  /// - Throws: ``FileFailure``.
  package func makeExclusive() throws(FileFailure) -> Bool { try Self.lock(descriptor, .exclusive) }

  private static func lock(_ descriptor: Int32, _ mode: Mode) throws(FileFailure) -> Bool {
    while flock(descriptor, (mode == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      default: throw .last("flock")
      }
    }
    return true
  }

  deinit { close(descriptor) }
}
