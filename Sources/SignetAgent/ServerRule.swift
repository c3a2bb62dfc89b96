#if os(Linux)
  import Glibc
  import Signet
  import SignetSystem

  /// The rule for a process that an app accepts as the agent.
  struct ServerRule: Sendable {
    /// The allowed paths of the agent's program.
    let programs: [String]

    /// Checks that the socket and its folder belong to this user, and that no other user can reach or replace it.
    ///
    /// - Throws: ``SharedSessionFailure``.
    static func checkPath(_ path: String) throws(SharedSessionFailure) {
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else { throw .unreachable(path: path, code: errno) }
      guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid(), status.st_mode & 0o022 == 0
      else { throw .notTrusted(path: path) }
      do throws(FileFailure) { try FileRule(.folder, forbiddenMode: 0o022).check(folder) } catch {
        throw .notTrusted(path: path)
      }
    }

    /// The reason to accept a process as the agent.
    enum Ground: Equatable {
      /// The process runs this program, which is one of the allowed ones.
      case program(PeerProcess.Executable)
      /// The process cannot be inspected, and has this group, which one of the programs grants.
      case group(gid_t)
      /// The process cannot be inspected, and none of the programs grants a group: nothing identifies it.
      case unknown

      /// The group that the kernel must report for the answering process; `nil` if a group proves nothing.
      ///
      /// A process must request this group explicitly, and only the agent does. All other output of the same program carries
      /// the user's group, for example its standard output, which the user may have redirected to a socket.
      var group: gid_t? { if case .group(let group) = self { group } else { nil } }
    }

    /// Returns the reason to accept a process as the agent.
    ///
    /// The process runs one of the programs, and only root and this user can replace it. Only root can inspect the agent
    /// itself, because it closes itself to other processes of its user. If one of the programs grants a group
    /// (``ProgramGroup``), a process that cannot be inspected must have this group, and no other program can. If none does,
    /// the process is accepted.
    ///
    /// - Returns: `nil` if the process is not accepted or has ended.
    func ground(for process: borrowing PeerProcess) -> Ground? {
      if process.isClosed {
        let groups = programs.compactMap(ProgramGroup.granted(by:))
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
