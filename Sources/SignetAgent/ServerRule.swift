#if os(Linux)
  import Glibc
  import Signet
  import SignetFiles

  /// What must serve a socket to be taken for the agent.
  struct ServerRule: Sendable {
    /// Where the agent's program may lie.
    let programs: [String]

    /// Checks that the socket and its folder are this user's, and that nobody else can reach or replace it.
    ///
    /// - Throws: ``SharedSessionFailure``.
    static func checkPlace(_ path: String) throws(SharedSessionFailure) {
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else { throw .unreachable(path: path, code: errno) }
      guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid(), status.st_mode & 0o022 == 0
      else { throw .notTrusted(path: path) }
      do throws(FileFailure) { try FileRule(.folder, forbiddenMode: 0o022).check(folder) } catch {
        throw .notTrusted(path: path)
      }
    }

    /// Whether a process may be taken for the agent.
    ///
    /// It runs one of the programs, and nobody but root and this user can put another in their place. The agent keeps others of
    /// its user from looking at it, so that only root sees what it runs: where one of the programs gives a group to whoever runs it
    /// (``ProgramGroup``), a process that can't be looked at has to act with this group, and no program but that one can. Where none
    /// does, it is believed.
    func allows(_ id: pid_t) -> Bool {
      guard let process = PeerProcess(id) else { return false }
      if process.isClosed {
        let groups = programs.compactMap(ProgramGroup.given(by:))
        return groups.isEmpty || process.effectiveGroup.map(groups.contains) == true
      }
      guard let found = process.executable() else { return false }
      return programs.contains { ExecutableRule.allows(found, at: $0) }
    }
  }
#endif
