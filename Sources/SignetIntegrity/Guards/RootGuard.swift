#if os(Linux)
  import Glibc

  /// Looks at who may do what: a process with root's rights, one with another user's, and a system or a program that others may
  /// change.
  public struct RootGuard: Guard {
    /// `root`.
    public let name = "root"

    /// A guard of this process and its system.
    public init() {}

    /// Where programs, libraries and their settings lie.
    static let systemPaths = [
      "/", "/etc", "/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/bin", "/sbin", "/lib",
      "/lib64",
      "/etc/ld.so.conf", "/etc/ld.so.cache", "/etc/passwd", "/etc/ssl", "/etc/ssl/openssl.cnf", "/etc/pam.d",
    ]

    /// Looks at the process, the system and the program.
    public func examine() -> [Evidence] {
      var evidence: [Evidence] = []
      if geteuid() == 0 { evidence.append(Evidence(.rootUser, "this program runs as root")) }
      if getuid() != geteuid() || getgid() != getegid() {
        evidence.append(
          Evidence(
            .changedUser,
            "user \(getuid()) has started this program, which has the rights of user \(geteuid())"))
      }
      let overflow = FileStatus.overflowOwner
      let open = Self.systemPaths.filter { FileStatus($0).map { !$0.isSystems(overflow: overflow) } ?? false }
      if !open.isEmpty {
        evidence.append(
          Evidence(.writableSystem, "others than the system may write to \(open.joined(separator: ", "))"))
      }
      if let program = LoadedObjects.programPath() {
        let folder = program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        for path in [program, folder.isEmpty ? "/" : folder] where FileStatus(path)?.isOpenToAll == true {
          evidence.append(Evidence(.writableProgram, "everybody may write to \(path)"))
        }
      }
      return evidence
    }
  }
#endif
