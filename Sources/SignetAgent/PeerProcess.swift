#if os(Linux)
  package import Glibc

  /// A process at the other end of a socket, held by its folder in `/proc`: once it has ended, nothing is found through that any
  /// more, even if another process gets its number.
  package struct PeerProcess: ~Copyable {
    /// The process's number.
    let id: pid_t
    private let folder: Int32

    /// A file as it is now, whatever its name.
    package struct FileIdentity: Hashable, Sendable {
      package let device: UInt64
      let number: UInt64

      package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }

      init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
      }
    }

    /// What a process runs.
    package struct Executable: Hashable, Sendable {
      package let path: String
      let identity: FileIdentity

      package init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
      }
    }

    /// Where a process lives: who is who, which process has which number, and which file lies where.
    ///
    /// What these mean outside of them is decided by who made them, who may be any user.
    package struct Namespaces: Hashable, Sendable {
      package let users: FileIdentity
      package let processes: FileIdentity
      package let mounts: FileIdentity

      package init(users: FileIdentity, processes: FileIdentity, mounts: FileIdentity) {
        self.users = users
        self.processes = processes
        self.mounts = mounts
      }
    }

    /// Holds a process; `nil` if there is none of this number, or another one than meant.
    ///
    /// - Parameters:
    ///   - id: Its number.
    ///   - handle: A pidfd of the process that is meant, where the system has one.
    package init?(_ id: pid_t, handle: Int32? = nil) {
      let opened = unsafe open("/proc/\(id)", O_DIRECTORY | O_CLOEXEC)
      guard opened >= 0 else { return nil }
      if let handle {
        // Readable once the process has ended; if it has not by now, the number is still its own.
        var request = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, 0) == 0 else {
          close(opened)
          return nil
        }
      }
      (self.id, folder) = (id, opened)
    }

    deinit { close(folder) }

    /// What the process runs now; `nil` if it has ended, or may not be looked at.
    package func executable() -> Executable? {
      var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let length = link(into: &path)
      guard length > 0, length < path.count,
        let text = String(validating: path[..<length], as: UTF8.self), let identity = identity("exe")
      else { return nil }
      return Executable(path: text, identity: identity)
    }

    /// What the process runs now; `nil` also if it lives somewhere else than in these namespaces.
    package func executable(in home: Namespaces) -> Executable? {
      guard let found = executable(), namespaces() == home else { return nil }
      return found
    }

    /// Where the process lives now; `nil` if it has ended, or may not be looked at.
    package func namespaces() -> Namespaces? {
      guard let users = identity("ns/user"), let processes = identity("ns/pid"),
        let mounts = identity("ns/mnt")
      else { return nil }
      return Namespaces(users: users, processes: processes, mounts: mounts)
    }

    /// Whether the process keeps others of its user from looking at it, as the agent does.
    var isClosed: Bool {
      var path: [UInt8] = [0]
      return link(into: &path) < 0 && errno == EACCES
    }

    /// Whether the process has not ended.
    var isThere: Bool {
      var status = stat()
      return unsafe fstatat(folder, "stat", &status, 0) == 0
    }

    /// The group that the process acts with; `nil` if it has ended.
    var effectiveGroup: gid_t? {
      let file = unsafe openat(folder, "status", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 8192)
      let count = unsafe text.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return nil }
      return ProgramGroup.effective(in: String(decoding: text[..<count], as: UTF8.self))
    }

    private func link(into path: inout [UInt8]) -> Int {
      unsafe path.withUnsafeMutableBytes { buffer -> Int in
        guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return 0 }
        return unsafe readlinkat(folder, "exe", start, buffer.count)
      }
    }

    private func identity(_ name: String) -> FileIdentity? {
      var status = stat()
      return unsafe fstatat(folder, name, &status, 0) == 0 ? FileIdentity(status) : nil
    }
  }
#endif
