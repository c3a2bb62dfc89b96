import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

#if os(Linux)
  import CProgramStart
  import FoundationEssentials
  import SignetAgent

  extension Doctor {
    /// The finding about the moment from which other programs of this user cannot open this one's memory.
    ///
    /// It is exec if the set-group-ID bit of the program's file has an effect, otherwise the program's own first
    /// instruction.
    static var start: Diagnostic {
      let subject: TerminalText = "start"
      guard signet_program_start() & Int32(SIGNET_START_SET_GROUP) == 0 else {
        if content("/proc/sys/fs/suid_dumpable").first == "1" {
          return Diagnostic(
            subject: subject, weight: .note,
            text:
              "the system leaves the memory of set-group-ID programs accessible (fs.suid_dumpable is 1), so \(exposure)",
            advice: "set it back: sysctl fs.suid_dumpable=0")
        }
        return Diagnostic(
          subject: subject, weight: .fine,
          text: "its group protects this program from other programs of this user before it runs")
      }
      let (reason, advice) = missingGroup
      return Diagnostic(subject: subject, weight: .note, text: "\(reason), so \(exposure)", advice: advice)
    }

    private static let exposure: TerminalText =
      "another program of this user can open its memory at the moment of its start"

    /// The reason why this program was not started with its file's group, and the remedy.
    private static var missingGroup: (reason: TerminalText, advice: TerminalText) {
      let link = "/proc/self/exe"
      var status = stat()
      guard stat(link, &status) == 0, status.st_mode & S_ISGID != 0 else {
        return (
          "this copy has no group of its own",
          "install it as root (make install), or give it one: chgrp _signet and then chmod 2755"
        )
      }
      if ProgramGroup.isIgnored(at: link) {
        return (
          "its file system is mounted nosuid, where programs get no group of their own",
          "install it in another file system"
        )
      }
      let lines = content("/proc/self/status").split(separator: "\n")
      if lines.contains(where: { $0.hasPrefix("NoNewPrivs:") && $0.hasSuffix("1") }) {
        return (
          "it was started under NoNewPrivileges, where programs get no group of their own",
          "start it without, as from a terminal of the desktop"
        )
      }
      if !ProgramGroup.hasNumber(status.st_gid) {
        return (
          "this container has no number for its group, so it gets none",
          "have the container map the group, or install the program in it"
        )
      }
      return (
        "the system did not give it its group, as happens to a program that is traced",
        "start it without a debugger, from a terminal"
      )
    }

    private static func content(_ path: String) -> String {
      FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }
#endif
