import Foundation
import SignetTestKit
import Testing

/// The runner of child processes, on which other tests rely.
@Suite(.timeLimit(.minutes(2))) struct ChildProcessTests {
  private static func shell(_ script: String, _ words: String...) -> ChildCommand {
    ChildCommand(["/bin/sh", "-c", script, "sh"] + words)
  }

  @Test("status and both outputs of a child") func status() async throws {
    let result = try await Self.shell("echo said; echo complained >&2; exit 7").finish()
    #expect(result.status == 7 && result.output == "said\n" && result.errorOutput == "complained\n")
    let joined = ChildCommand(["/bin/sh", "-c", "echo said; echo complained >&2"], errorOutput: .joined)
    #expect(try await joined.finish().output == "said\ncomplained\n")
  }

  @Test("code that is not asynchronous has the same result") func blocking() throws {
    let result = try Self.shell("echo said; exit 7").finish()
    #expect(result.status == 7 && result.output == "said\n")
  }

  @Test("a signal is a negative status") func signals() async throws {
    #expect(try await Self.shell("kill -TERM $$").finish().status == -SIGTERM)
    let child = try ChildCommand(["/bin/sleep", "600"]).start()
    #expect(child.isRunning)
    #expect(child.kill())
    #expect(try await child.end() == -SIGKILL)
    #expect(!child.isRunning)
    #expect(!child.send(SIGTERM))
    // A repeated query gives the same status.
    #expect(try await child.end() == -SIGKILL)
  }

  @Test("a child that exceeds the time limit is killed, which is an error") func overdue() async throws {
    let child = try Self.shell("echo begun; exec sleep 600").start()
    let error = await #expect(throws: ChildProcess.Overdue.self) {
      try await child.end(within: .milliseconds(300))
    }
    #expect(error?.description.contains("sleep 600") == true)
    #expect(!child.isRunning)
    let blocking: () throws -> Void = {
      _ = try ChildCommand(["/bin/sleep", "600"]).finish(within: .milliseconds(50))
    }
    #expect(throws: ChildProcess.Overdue.self) { try blocking() }
  }

  @Test("the end of a child is reported while others that started at the same moment still run")
  func endsAreToldAtOnce() async throws {
    try await withThrowingTaskGroup(of: (ChildProcess, Bool).self) { group in
      for number in 0..<40 {
        group.addTask {
          let isLong = number.isMultiple(of: 2)
          let child = try ChildCommand(isLong ? ["/bin/sleep", "600"] : ["/bin/true"]).start()
          if !isLong { #expect(try await child.end() == 0) }
          return (child, isLong)
        }
      }
      var living: [ChildProcess] = []
      for try await (child, isLong) in group where isLong { living.append(child) }
      #expect(living.count == 20 && living.allSatisfy(\.isRunning))
      for child in living {
        child.kill()
        #expect(try await child.end() == -SIGKILL)
      }
    }
  }

  @Test("bytes, lines, files, pipes and nothing are read") func input() async throws {
    func read(_ input: ChildCommand.Input) async throws -> [UInt8] {
      try await ChildCommand(["/bin/cat"], input: input).finish().outputBytes
    }
    #expect(try await read(.none).isEmpty)
    #expect(try await read(.lines(["one", "two"])) == Array("one\ntwo\n".utf8))
    // More than a pipe holds, and no side waits for the other.
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    #expect(try await read(.bytes(bytes)) == bytes)
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: URL(filePath: folder.file("content")))
    #expect(try await read(.file(folder.file("content"))) == bytes)
    let child = try ChildCommand(["/bin/cat"], input: .pipe, output: .pipe).start()
    try child.input.write(contentsOf: Data("asked\n".utf8))
    #expect(child.output.availableData == Data("asked\n".utf8))
    try child.input.close()
    #expect(try await child.end() == 0)
  }

  @Test("a line process answers line by line; its end is an error") func lines() throws {
    let process = try LineProcess(ChildCommand(["/bin/cat"]))
    #expect(try process.ask("one") == "one")
    try process.send("two\nthree")
    #expect(try process.readLine() == "two")
    #expect(try process.readLine() == "three")
    try process.close()
    #expect(throws: LineProcess.Ended.self) { try process.readLine() }
  }

  @Test("environment, folder and search path are those of the command") func surroundings() async throws {
    let folder = try TemporaryFolder()
    let own = ChildCommand(["/usr/bin/env"], environment: ["ONE": "1"])
    #expect(try await own.finish().output == "ONE=1\n")
    let here = ChildCommand(["pwd", "-P"], folder: folder.path)
    let path = try #require(realpath(folder.path, nil).map { String(cString: $0) })
    #expect(try await here.finish().output == "\(path)\n")
  }

  @Test("a missing program is an error, not a status") func missing() {
    let error = #expect(throws: ChildProcess.NotStarted.self) {
      try ChildCommand(["/nowhere/program"]).start()
    }
    #expect(error?.errno == ENOENT)
  }

  #if os(Linux)
    @Test("a child has its standard descriptors only, no signal blocked and none ignored")
    func inheritance() async throws {
      // Inheritable, and with a number above those that a shell opens.
      let spare = dup2(0, 700)
      defer { close(spare) }
      let open = try await Self.shell("ls /proc/$$/fd").finish().output
      #expect(open == "0\n1\n2\n")
      // From a thread that blocks all signals, like those of a pool, with one ignored.
      let status = try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          var (all, usual) = (sigset_t(), sigset_t())
          sigfillset(&all)
          pthread_sigmask(SIG_SETMASK, &all, &usual)
          let before = signal(SIGUSR2, SIG_IGN)
          continuation.resume(
            with: Result { () throws -> ChildProcess.Result in
              try ChildCommand(["/bin/grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"]).finish()
            })
          signal(SIGUSR2, before)
        }
      }
      let masks = status.output.split(separator: "\n").map { $0.split(separator: "\t").last ?? "" }
      try #require(masks.count == 2, "\(status.output)")
      #expect(UInt64(masks[0], radix: 16) == 0)
      // The C library has two signals of its own, 32 and 33, ignored in every child.
      #expect(UInt64(masks[1], radix: 16).map { $0 & ~0x1_8000_0000 } == 0, "\(masks[1])")
    }
  #endif
}
