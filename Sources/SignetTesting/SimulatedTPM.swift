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
    /// A shell that swtpm ends with, and that ends with this process: it reads from a pipe of ours.
    private var shell: ChildProcess?

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
      guard let shell else { return }
      kill(processID, SIGKILL)
      do {
        try shell.input.close()
        try shell.end()
      } catch { shell.kill() }
      (self.shell, processID) = (nil, 0)
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

      let shell = try startShell()
      // Written once swtpm listens.
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var buffer = [UInt8](repeating: 0, count: 32)
      guard poll(&entry, 1, 600_000) == 1, case let count = read(descriptor, &buffer, buffer.count),
        count > 0,
        let id = Int32(String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")[0])
      else {
        shell.kill()
        throw Failure(description: "swtpm did not start; install it with Scripts/setup test")
      }
      (self.shell, processID) = (shell, id)
    }

    /// Starts swtpm, and beside it a process that ends it when this one is gone and the pipe with it.
    private func startShell() throws -> ChildProcess {
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
      return try ChildCommand(
        ["/bin/sh", "-c", script, "sh", folder.path], input: .pipe, output: .none, errorOutput: .none
      ).start()
    }
  }
#endif
