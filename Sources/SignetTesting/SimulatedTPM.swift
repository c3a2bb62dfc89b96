#if os(Linux)
  import Foundation
  import SignetTestKit

  /// A software TPM 2.0 (swtpm) in a child process, with its state in a folder.
  ///
  /// It ends with its last reference, and with this process.
  package final class SimulatedTPM {
    package struct Failure: Error, CustomStringConvertible {
      package let description: String
    }

    package static var isInstalled: Bool {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/swtpm")
    }

    /// True if tests that need it must run: in CI always, so that a missing package is a failure.
    package static var isExpected: Bool { isInstalled || ContinuousIntegration.isHere }

    private let folder: TemporaryFolder
    /// A shell that ends with swtpm and with this process: it reads from this process's pipe.
    private var shell: ChildProcess?

    /// The process ID of swtpm, while it runs.
    package private(set) var processID: Int32 = 0

    /// The address for programs, in the form of `SIGNET_TPM`.
    package var address: String { "swtpm:path=\(folder.file("tpm.sock"))" }

    /// Starts a TPM with a new state.
    ///
    /// - Throws: ``Failure``, or the system's error.
    package init() throws {
      folder = try TemporaryFolder()
      try FileManager.default.createDirectory(
        atPath: folder.file("state"), withIntermediateDirectories: false)
      try start()
    }

    deinit { stop() }

    /// Kills the TPM like a power failure: no command finishes, and no further state is saved.
    package func stop() {
      guard let shell else { return }
      kill(processID, SIGKILL)
      do {
        try shell.input.close()
        try shell.end()
      } catch { shell.kill() }
      (self.shell, processID) = (nil, 0)
    }

    /// Starts the TPM again with its old state, as after a power-on.
    ///
    /// - Throws: ``Failure``, or the system's error.
    package func start() throws {
      let ready = folder.file("ready")
      unlink(folder.file("tpm.sock"))
      unlink(ready)
      guard mkfifo(ready, 0o600) == 0 else { throw Failure(description: "mkfifo: \(errno)") }
      let descriptor = open(ready, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw Failure(description: "open: \(errno)") }
      defer { close(descriptor) }

      let shell = try startShell()
      // swtpm writes to the pipe when it listens.
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

    /// Starts swtpm, and a process that kills it when this process, and with it the pipe, has ended.
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
