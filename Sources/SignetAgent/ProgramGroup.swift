#if os(Linux)
  package import Glibc

  /// The group that only `signet` runs with, from the set-group-ID bit of its file (execve(2)).
  ///
  /// The kernel closes such a program to its user from the first instruction on. No other program gets the group, because
  /// no user is a member.
  ///
  /// The bit has no effect in a user namespace that does not map the group, on a `nosuid` mount, or if new privileges are
  /// forbidden. The program then has no group of its own.
  package enum ProgramGroup {
    /// The group that this process got in addition to its user's; `nil` if it has only the user's group.
    package static var own: gid_t? { getegid() == getgid() ? nil : getegid() }

    /// Returns the group that a program's file grants.
    ///
    /// - Parameter path: The file, without links in its path.
    /// - Returns: The group; `nil` if the file grants none.
    static func granted(by path: String) -> gid_t? {
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_mode & S_ISGID != 0, status.st_mode & S_IXGRP != 0
      else { return nil }
      return isIgnored(at: path) || !hasNumber(status.st_gid) ? nil : status.st_gid
    }

    /// Returns true if this process's user namespace maps a group (user_namespaces(7)); otherwise the bit has no effect.
    package static func hasNumber(_ group: gid_t) -> Bool {
      let overflow = gid_t(text(of: "/proc/sys/kernel/overflowgid").filter(\.isNumber)) ?? 65_534
      return hasNumber(group, map: text(of: "/proc/self/gid_map"), overflow: overflow)
    }

    /// Returns the same for a given map, and the overflow ID that is shown for unmapped groups.
    package static func hasNumber(_ group: gid_t, map: String, overflow: gid_t) -> Bool {
      let ranges = map.split(separator: "\n").compactMap { line -> Range<UInt64>? in
        let numbers = line.split(separator: " ").compactMap { UInt32($0) }.map { UInt64($0) }
        return numbers.count == 3 ? numbers[0]..<(numbers[0] + numbers[2]) : nil
      }
      // Outside of containers every group is mapped.
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

    /// Returns true if the file system of a file is mounted with `nosuid`, so that the bit has no effect.
    package static func isIgnored(at path: String) -> Bool {
      var system = statvfs()
      return unsafe statvfs(path, &system) == 0 && system.f_flag & UInt(ST_NOSUID) != 0
    }

    /// Returns the effective group from the text of `/proc/PID/status`, which all users can read (proc(5)); `nil` if it is
    /// missing.
    package static func effective(in text: some StringProtocol) -> gid_t? {
      // `Gid:`, then the real, effective, saved and file-system group.
      for line in text.split(separator: "\n") where line.hasPrefix("Gid:") {
        let numbers = line.dropFirst(4).split(whereSeparator: \.isWhitespace)
        return numbers.count == 4 ? gid_t(numbers[1]) : nil
      }
      return nil
    }
  }
#endif
