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

    /// What makes a process pass for the agent.
    enum Ground: Equatable {
      /// It runs this program, which is one of those.
      case program(PeerProcess.Executable)
      /// Nobody of its user can look at it, and it acts with this group, which one of the programs gives to whoever runs it.
      case group(gid_t)
      /// Nobody of its user can look at it, and none of the programs gives a group: nothing tells what it is.
      case unknown

      /// What the kernel has to name as the group of the process that answers; `nil` where that proves nothing.
      ///
      /// A process with the group has to ask for it, which the agent alone does. Whatever else the same program writes, to its
      /// standard output for example, which whoever started it may have made a socket, goes out with the user's group.
      var group: gid_t? { if case .group(let group) = self { group } else { nil } }
    }

    /// Why a process may be taken for the agent.
    ///
    /// It runs one of the programs, and nobody but root and this user can put another in their place. The agent keeps others of
    /// its user from looking at it, so that only root sees what it runs: where one of the programs gives a group to whoever runs it
    /// (``ProgramGroup``), a process that can't be looked at has to act with this group, and no program but that one can. Where none
    /// does, it is believed.
    ///
    /// - Returns: `nil` where it may not be taken for the agent, or has ended.
    func ground(for process: borrowing PeerProcess) -> Ground? {
      if process.isClosed {
        let groups = programs.compactMap(ProgramGroup.given(by:))
        if groups.isEmpty { return .unknown }
        guard let group = process.effectiveGroup, groups.contains(group) else { return nil }
        return .group(group)
      }
      guard let found = process.executable(),
        programs.contains(where: { ExecutableRule.allows(found, at: $0) })
      else { return nil }
      return .program(found)
    }
  }
#endif
