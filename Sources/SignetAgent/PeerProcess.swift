#if os(Linux)
  import Glibc

  /// A process that talks to the agent, held by its folder in `/proc`: once it has ended, nothing is found through that any
  /// more, even if another process gets its number.
  struct PeerProcess: ~Copyable {
    /// The process's number.
    let id: pid_t
    private let folder: Int32

    /// A file as it is now, whatever its name.
    struct FileIdentity: Hashable, Sendable {
      let device: UInt64
      let number: UInt64
    }

    /// What a process runs.
    struct Executable: Hashable, Sendable {
      let path: String
      let identity: FileIdentity
    }

    /// Holds a process; `nil` if there is none of this number.
    init?(_ id: pid_t) {
      let opened = unsafe open("/proc/\(id)", O_DIRECTORY | O_CLOEXEC)
      guard opened >= 0 else { return nil }
      (self.id, folder) = (id, opened)
    }

    deinit { close(folder) }

    /// What the process runs now; `nil` if it has ended, or may not be looked at.
    func executable() -> Executable? {
      var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let length = unsafe path.withUnsafeMutableBytes { buffer -> Int in
        guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return 0 }
        return unsafe readlinkat(folder, "exe", start, buffer.count)
      }
      guard length > 0, length < path.count,
        let text = String(validating: path[..<length], as: UTF8.self)
      else { return nil }
      var status = stat()
      guard unsafe fstatat(folder, "exe", &status, 0) == 0 else { return nil }
      return Executable(
        path: text, identity: FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)))
    }
  }
#endif
