#if os(Linux)
  import Foundation
  import SignetTestKit

  /// A TPM 2.0 in a process of its own (swtpm), with its state in a folder; ended with its last reference, and with this process.
  package final class SimulatedTPM {
    /// Why there is none.
    package struct Failure: Error, CustomStringConvertible {
      /// What happened.
      package let description: String
    }

    /// Whether swtpm is on this machine.
    package static var isInstalled: Bool {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/swtpm")
    }

    /// Whether tests that need it run: in continuous integration they do, so that a missing package is a failure.
    package static var isExpected: Bool { isInstalled || ContinuousIntegration.isHere }

    private let folder: TemporaryFolder
    private var shell: pid_t = 0
    private var lifeline: Int32 = -1

    /// The process of swtpm, while it runs.
    package private(set) var processID: Int32 = 0

    /// Where programs reach it, as `SIGNET_TPM` has it.
    package var address: String { "swtpm:path=\(folder.file("tpm.sock"))" }

    /// Starts one with a state that no other has.
    ///
    /// - Throws: ``Failure``, or what the system says.
    package init() throws {
      folder = try TemporaryFolder()
      try FileManager.default.createDirectory(
        atPath: folder.file("state"), withIntermediateDirectories: false)
      try start()
    }

    deinit { stop() }

    /// Pulls the plug: no command is finished and nothing is saved that was not.
    package func stop() {
      guard shell != 0 else { return }
      kill(processID, SIGKILL)
      close(lifeline)
      var status: Int32 = 0
      while waitpid(shell, &status, 0) < 0, errno == EINTR {}
      (shell, lifeline, processID) = (0, -1, 0)
    }

    /// Starts it again with the state that it had, as after switching a machine on.
    ///
    /// - Throws: ``Failure``, or what the system says.
    package func start() throws {
      let ready = folder.file("ready")
      unlink(folder.file("tpm.sock"))
      unlink(ready)
      guard mkfifo(ready, 0o600) == 0 else { throw Failure(description: "mkfifo: \(errno)") }
      let descriptor = open(ready, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw Failure(description: "open: \(errno)") }
      defer { close(descriptor) }

      try spawnShell()
      // Written once swtpm listens.
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var buffer = [UInt8](repeating: 0, count: 32)
      guard poll(&entry, 1, 20_000) == 1, case let count = read(descriptor, &buffer, buffer.count), count > 0,
        let id = Int32(String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")[0])
      else {
        close(lifeline)
        throw Failure(description: "swtpm did not start; install it with Scripts/setup test")
      }
      processID = id
    }

    /// Starts swtpm, and beside it a process that ends it when this one is gone and the socket with it.
    private func spawnShell() throws {
      let script = """
        exec 3<&0
        /usr/bin/swtpm socket --tpm2 --tpmstate dir="$1/state" --server type=unixio,path="$1/tpm.sock" \
          --flags not-need-init,startup-clear --pid file="$1/ready" 3<&- </dev/null >/dev/null 2>"$1/log" &
        tpm=$!
        (read -r line <&3; kill -9 $tpm) >/dev/null 2>&1 &
        guard=$!
        exec 3<&-
        wait $tpm
        kill $guard
        """
      var ends: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
        throw Failure(description: "socketpair: \(errno)")
      }
      defer { close(ends[0]) }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
      let words: [String] = ["/bin/sh", "-c", script, "sh", folder.path]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      // Threads of the pool block all signals, and a shell that hears of no child waits for ever.
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var none = sigset_t()
      sigemptyset(&none)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
      let error = posix_spawn(&shell, "/bin/sh", &actions, &attributes, &arguments, environ)
      guard error == 0 else {
        close(ends[1])
        throw Failure(description: "posix_spawn: \(error)")
      }
      lifeline = ends[1]
    }
  }
#endif
