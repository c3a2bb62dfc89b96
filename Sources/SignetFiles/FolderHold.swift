#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder that this process uses, as others can see; the system gives it up with the process.
package final class FolderHold: Sendable {
  /// Who may hold it at the same time.
  package enum Mode: Sendable {
    /// Any number of others that share it.
    case shared
    /// Nobody.
    case alone
  }

  private let descriptor: Int32

  /// Holds a folder; does not wait.
  ///
  /// - Returns: `nil` where another process, or another holder in this one, does not allow it.
  /// - Throws: ``FileFailure``.
  package init?(_ path: String, _ mode: Mode) throws(FileFailure) {
    let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw errno == ENOENT ? .missing : .last("open") }
    descriptor = opened
    guard try Self.lock(opened, mode) else { return nil }
  }

  /// Whether nobody else holds it; nobody else can from then on.
  ///
  /// - Throws: ``FileFailure``.
  package func becomesAlone() throws(FileFailure) -> Bool { try Self.lock(descriptor, .alone) }

  private static func lock(_ descriptor: Int32, _ mode: Mode) throws(FileFailure) -> Bool {
    while flock(descriptor, (mode == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
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
