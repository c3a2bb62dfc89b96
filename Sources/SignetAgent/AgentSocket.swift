#if os(Linux)
  import Glibc
  import SignetSystem

  /// The listening socket of the agent.
  public struct AgentSocket: ~Copyable, Sendable {
    package let descriptor: Int32
    private let lock: Int32?

    /// Returns the path where apps look for the agent: `$XDG_RUNTIME_DIR/signet/agent.sock`.
    ///
    /// - Parameter environment: The variables of the process.
    /// - Returns: `nil` if the variable is unset or not absolute: no other folder belongs to the user alone and is removed
    ///   at logout.
    public static func standardPath(_ environment: [String: String]) -> String? {
      guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
      return "\(folder)/signet/agent.sock"
    }

    /// Adopts the socket that systemd has opened (`sd_listen_fds(3)`).
    ///
    /// - Parameter environment: The variables of the process.
    /// - Returns: `nil` if systemd did not start this process for a socket.
    /// - Throws: ``AgentSocketFailure/notAListeningSocket`` if descriptor 3 is something else.
    public static func inherited(_ environment: [String: String]) throws(AgentSocketFailure) -> AgentSocket? {
      guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"] else {
        return nil
      }
      var isListening: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      var address = sockaddr()
      var addressLength = socklen_t(MemoryLayout<sockaddr>.size)
      guard count == "1", unsafe getsockopt(3, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
        isListening == 1, unsafe getsockname(3, &address, &addressLength) == 0,
        address.sa_family == sa_family_t(AF_UNIX), fcntl(3, F_SETFD, FD_CLOEXEC) == 0
      else { throw .notAListeningSocket }
      return AgentSocket(descriptor: 3, lock: nil)
    }

    private init(descriptor: Int32, lock: Int32?) { (self.descriptor, self.lock) = (descriptor, lock) }

    /// Listens at a path.
    ///
    /// A missing folder is created with mode 0700; the socket gets mode 0600. A socket left by a killed agent is replaced: a
    /// lock file next to it, which the system releases with the process, shows if an agent is running.
    ///
    /// - Throws: ``AgentSocketFailure``.
    public init(at path: String) throws(AgentSocketFailure) {
      guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
        throw .system(path, errno: ENOENT)
      }
      let folder = String(path[..<slash])
      if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw .system(folder, errno: errno) }
      do throws(FileFailure) { try FileRule(.folder).check(folder) } catch { throw .folderNotTrusted(folder) }
      let lock = unsafe open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard lock >= 0 else { throw .system("\(path).lock", errno: errno) }
      guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
        let code = errno
        close(lock)
        throw code == EWOULDBLOCK ? .alreadyRunning(path) : .system("\(path).lock", errno: code)
      }
      let newDescriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var code = newDescriptor >= 0 ? 0 : errno
      if newDescriptor >= 0 {
        _ = unsafe unlink(path)  // allowed: the lock is held
        do throws(SocketStream.Failure) {
          let result = try unsafe withSocketAddress(path) { address, length in
            unsafe bind(newDescriptor, address, length)
          }
          let isPrivate = unsafe chmod(path, 0o600) == 0
          if result != 0 || !isPrivate || listen(newDescriptor, 128) != 0 { code = errno }
        } catch { code = ENAMETOOLONG }
        if code != 0 { close(newDescriptor) }
      }
      guard code == 0 else {
        close(lock)
        throw .system(path, errno: code)
      }
      (descriptor, self.lock) = (newDescriptor, lock)
    }

    deinit {
      close(descriptor)
      if let lock { close(lock) }
    }
  }

  /// Why the agent cannot listen.
  @nonexhaustive public enum AgentSocketFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another agent listens at the path.
    case alreadyRunning(String)
    /// The folder belongs to another user, or other users can access it.
    case folderNotTrusted(String)
    /// systemd did not pass a listening Unix socket.
    case notAListeningSocket
    /// The system's error.
    case system(String, errno: Int32)

    /// The cause and the remedy.
    public var description: String {
      switch self {
      case .alreadyRunning(let path): "an agent runs already at \(path); use that one, or stop it first"
      case .folderNotTrusted(let path):
        "\(path) is accessible to other users; set its owner to this user and its mode to 700"
      case .notAListeningSocket:
        "systemd did not hand over one Unix socket; start signet-agent.socket, not the service by itself"
      case .system(let path, let error): "cannot listen at \(path): error \(error); choose another path"
      }
    }
  }
#endif
