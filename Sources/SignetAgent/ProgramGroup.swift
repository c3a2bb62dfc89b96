#if os(Linux)
  package import Glibc

  /// The group that `signet` alone runs with: that of its file, by the set-group-id bit (execve(2)).
  ///
  /// The kernel closes a program that it starts so to its user, from the first instruction on, and nobody else gets the group: no
  /// user is in it. In a namespace of users in which it has no number, and where a mount or a process forbids new privileges, the
  /// bit does not act, and the program has no group of its own.
  package enum ProgramGroup {
    /// The group with which this process was started in place of its user's; `nil` where it was started as any other program.
    package static var own: gid_t? { getegid() == getgid() ? nil : getegid() }

    /// Looks for the group that a program's file gives to whoever runs it.
    ///
    /// - Parameter path: The file, without links in its path.
    /// - Returns: The group; `nil` where the file gives none.
    static func given(by path: String) -> gid_t? {
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_mode & S_ISGID != 0, status.st_mode & S_IXGRP != 0
      else { return nil }
      return isIgnored(at: path) || !hasNumber(status.st_gid) ? nil : status.st_gid
    }

    /// Whether a group has a number in this process's namespace of users (user_namespaces(7)); where it has none, the bit does not act.
    package static func hasNumber(_ group: gid_t) -> Bool {
      let overflow = gid_t(text(of: "/proc/sys/kernel/overflowgid").filter(\.isNumber)) ?? 65_534
      return hasNumber(group, map: text(of: "/proc/self/gid_map"), overflow: overflow)
    }

    /// The same by the text of the map, and by the number with which groups are shown that have none.
    package static func hasNumber(_ group: gid_t, map: String, overflow: gid_t) -> Bool {
      let ranges = map.split(separator: "\n").compactMap { line -> Range<UInt64>? in
        let numbers = line.split(separator: " ").compactMap { UInt32($0) }.map { UInt64($0) }
        return numbers.count == 3 ? numbers[0]..<(numbers[0] + numbers[2]) : nil
      }
      // Outside of containers each group has its own.
      if ranges.isEmpty || ranges == [0..<UInt64(UInt32.max)] { return true }
      return group != overflow && ranges.contains { $0.contains(UInt64(group)) }
    }

    private static func text(of path: String) -> String {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return "" }
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 16_384)
      let count = unsafe text.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
      return count > 0 ? String(decoding: text[..<count], as: UTF8.self) : ""
    }

    /// Whether the file system that a file lies in is mounted such that the bit does not act (`nosuid`).
    package static func isIgnored(at path: String) -> Bool {
      var system = statvfs()
      return unsafe statvfs(path, &system) == 0 && system.f_flag & UInt(ST_NOSUID) != 0
    }

    /// The effective group in the text of `/proc/PID/status`, which everybody may read (proc(5)); `nil` where none stands there.
    package static func effective(in text: some StringProtocol) -> gid_t? {
      // `Gid:`, then the real, effective, saved and file system's one.
      for line in text.split(separator: "\n") where line.hasPrefix("Gid:") {
        let numbers = line.dropFirst(4).split(whereSeparator: \.isWhitespace)
        return numbers.count == 4 ? gid_t(numbers[1]) : nil
      }
      return nil
    }
  }
#endif
