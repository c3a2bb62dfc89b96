#if os(Linux)
  package import Glibc

  /// A guard for privileges: a process with root's or another user's privileges, and a system or program that other users
  /// can change.
  public struct RootGuard: Guard {
    /// The value `root`.
    public let name = "root"

    package struct Identity: Sendable {
      package var user = getuid()
      package var effectiveUser = geteuid()
      package var group = getgid()
      package var effectiveGroup = getegid()

      package init() {}
    }

    private let root: String
    private let program: @Sendable () -> String?
    private let identity: @Sendable () -> Identity

    /// Creates a guard of this process and its system.
    public init() { self.init(root: "", program: LoadedObjects.programPath) { Identity() } }

    /// Creates a guard of a process whose system is below `root`.
    ///
    /// - Parameters:
    ///   - root: The folder used as `/`; empty for `/`.
    ///   - program: Returns the program's path.
    ///   - identity: Returns the users and groups of the process.
    package init(
      root: String, program: @escaping @Sendable () -> String?, identity: @escaping @Sendable () -> Identity
    ) {
      self.root = root
      self.program = program
      self.identity = identity
    }

    /// The folders of programs, libraries and their settings.
    static let systemPaths = [
      "/", "/etc", "/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/bin", "/sbin", "/lib",
      "/lib64",
      "/etc/ld.so.conf", "/etc/ld.so.cache", "/etc/passwd", "/etc/ssl", "/etc/ssl/openssl.cnf", "/etc/pam.d",
    ]

    /// Checks the process, the system and the program.
    public func examine() -> [Evidence] {
      var evidence: [Evidence] = []
      let identity = identity()
      if identity.effectiveUser == 0 { evidence.append(Evidence(.rootUser, "this program runs as root")) }
      let hasOtherGroup = identity.group != identity.effectiveGroup && !isGranted(identity.effectiveGroup)
      if identity.user != identity.effectiveUser || hasOtherGroup {
        evidence.append(
          Evidence(
            .changedUser,
            "user \(identity.user) started this program, but it runs with the rights of user \(identity.effectiveUser), group \(identity.effectiveGroup)"
          ))
      }
      let overflow = FileStatus.overflowOwner
      let open = Self.systemPaths.filter {
        FileStatus(root + $0).map { !$0.isSystems(overflow: overflow) } ?? false
      }
      if !open.isEmpty {
        evidence.append(
          Evidence(.writableSystem, "users other than root may write to \(open.joined(separator: ", "))"))
      }
      if let program = program() {
        let folder = program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        for path in [program, folder.isEmpty ? "/" : folder] where FileStatus(path)?.isOpenToAll == true {
          evidence.append(Evidence(.writableProgram, "all users may write to \(path)"))
        }
      }
      return evidence
    }

    /// True if the program's own file grants the group (setgid), as that of an installed `signet` does.
    private func isGranted(_ group: UInt32) -> Bool {
      guard let status = program().flatMap({ FileStatus($0) }) else { return false }
      return status.mode & UInt32(S_ISGID) != 0 && status.group == group && !status.isOpenToAll
    }
  }
#endif
