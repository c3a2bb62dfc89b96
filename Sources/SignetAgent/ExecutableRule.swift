#if os(Linux)
  import Glibc

  /// Which program a process must run to be let in.
  package enum ExecutableRule {
    /// Whether a process runs the program at `path`, and nobody but root and this user can put another in its place.
    ///
    /// The file, and each folder above it, belongs to root or to this user, and neither group nor others may write to it. A
    /// folder of root in which everybody may write, but nobody to what is another's, such as `/tmp`, is let pass.
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

    /// Links are not followed: a path with one in it is never that of a process.
    private static func status(_ path: String) -> stat? {
      var status = stat()
      return unsafe lstat(path, &status) == 0 ? status : nil
    }

    private static func isOurs(_ status: stat) -> Bool {
      (status.st_uid == 0 || status.st_uid == geteuid()) && status.st_mode & 0o022 == 0
    }
  }
#endif
