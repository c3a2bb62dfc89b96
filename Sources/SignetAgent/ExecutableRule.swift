#if os(Linux)
  import Glibc

  /// The rule for programs that the agent or an app accepts.
  package enum ExecutableRule {
    /// Returns true if a process runs the program at `path`, and only root and this user can replace it.
    ///
    /// The file, and each folder above it, must belong to root or this user, without write access for group and others. A
    /// folder of root with the sticky bit, such as `/tmp`, is also accepted.
    package static func allows(_ executable: PeerProcess.Executable, at path: String) -> Bool {
      guard executable.path == path, let file = status(path), file.st_mode & S_IFMT == S_IFREG,
        PeerProcess.FileIdentity(file) == executable.identity, isOurs(file)
      else { return false }
      var folder = path
      while folder != "/" {
        guard let slash = folder.lastIndex(of: "/") else { return false }
        folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        guard let status = status(folder), status.st_mode & S_IFMT == S_IFDIR else { return false }
        let isSticky = status.st_uid == 0 && status.st_mode & S_ISVTX != 0
        guard isSticky || isOurs(status) else { return false }
      }
      return true
    }

    /// Reads a status without following links: the path of a process never contains one.
    private static func status(_ path: String) -> stat? {
      var status = stat()
      return unsafe lstat(path, &status) == 0 ? status : nil
    }

    private static func isOurs(_ status: stat) -> Bool {
      (status.st_uid == 0 || status.st_uid == geteuid()) && status.st_mode & 0o022 == 0
    }
  }
#endif
