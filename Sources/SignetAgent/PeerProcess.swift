#if os(Linux)
  package import Glibc

  /// A process at the other end of a socket, held by its folder in `/proc`.
  ///
  /// After the process has ended, reads through the folder fail, even if another process gets its number.
  package struct PeerProcess: ~Copyable {
    let id: pid_t
    private let folder: Int32

    /// The identity of a file, independent of its name.
    package struct FileIdentity: Hashable, Sendable {
      package let device: UInt64
      let number: UInt64

      package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }

      init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
      }
    }

    package struct Executable: Hashable, Sendable {
      package let path: String
      let identity: FileIdentity

      package init(path: String, identity: FileIdentity) {
        self.path = path
        self.identity = identity
      }
    }

    /// The namespaces of a process: users, processes and mounts.
    ///
    /// The creator of a namespace decides the meaning of IDs and paths inside it, and can be any user.
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

    /// Holds a process; `nil` if no process has this ID, or another one than `handle` refers to.
    ///
    /// - Parameters:
    ///   - id: The process ID.
    ///   - handle: A pidfd of the expected process, if the system provides one.
    package init?(_ id: pid_t, handle: Int32? = nil) {
      let folderDescriptor = unsafe open("/proc/\(id)", O_DIRECTORY | O_CLOEXEC)
      guard folderDescriptor >= 0 else { return nil }
      if let handle {
        // Readable after the process has ended; if it is still running, the ID still belongs to it.
        var request = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, 0) == 0 else {
          close(folderDescriptor)
          return nil
        }
      }
      (self.id, folder) = (id, folderDescriptor)
    }

    deinit { close(folder) }

    /// Returns the present program of the process; `nil` if it has ended or cannot be inspected.
    package func executable() -> Executable? {
      var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let length = link(into: &path)
      guard length > 0, length < path.count,
        let text = String(validating: path[..<length], as: UTF8.self), let identity = identity("exe")
      else { return nil }
      return Executable(path: text, identity: identity)
    }

    /// Returns the present program of the process; also `nil` if it runs in other namespaces than `home`.
    package func executable(in home: Namespaces) -> Executable? {
      guard let found = executable(), namespaces() == home else { return nil }
      return found
    }

    /// Returns the namespaces of the process; `nil` if it has ended or cannot be inspected.
    package func namespaces() -> Namespaces? {
      guard let users = identity("ns/user"), let processes = identity("ns/pid"),
        let mounts = identity("ns/mnt")
      else { return nil }
      return Namespaces(users: users, processes: processes, mounts: mounts)
    }

    /// True if other processes of its user cannot inspect the process, as is the case for the agent.
    var isClosed: Bool {
      var path: [UInt8] = [0]
      return link(into: &path) < 0 && errno == EACCES
    }

    var isThere: Bool {
      var status = stat()
      return unsafe fstatat(folder, "stat", &status, 0) == 0
    }

    /// The effective group of the process; `nil` if it has ended.
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
