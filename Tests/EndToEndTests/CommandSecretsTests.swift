#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTestKit
  import Testing

  /// The remains of a password in the memory of a command that has used it and still runs.
  ///
  /// The commands close their memory to their user, so the test needs root.
  @Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "nobody else than root may look into it"),
    .disabled(if: Programs.areDebug, "a debug build leaves copies of secrets in memory"))
  struct CommandSecretsTests {
    /// Passwords that are long enough for each part that is searched, and for vector registers of each size.
    private static let passwords = [
      "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6Ue1Ra",
      // One password that Form C leaves unchanged, and one with a letter that it composes.
      "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6\u{E9}\u{E9}", "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6e\u{301}",
    ]

    private let server: RunningServer

    init() async throws { server = try await RunningServer.startWithShop(["--allow-sequences"]) }

    @Test("activate holds the password until the container is stored, not during the confirmation")
    func activate() async throws {
      // The length of the output is the same for each user and password.
      let rehearsal = try await server.device("alice").run(
        "activate", "--code-file", server.codeFile("alice"), passwords: [Self.passwords[0]])
      try #require(rehearsal.status == 0, rehearsal.summary)
      for (number, password) in Self.passwords.enumerated() {
        for (name, word, isThere) in [("carl", "Making keys", true), ("dave", "Confirming", false)] {
          let user = "\(name)\(number)"
          let made = try await server.device(user).process(
            ["activate", "--code-file", server.codeFile(user)], passwords: [password])
          let command = try HeldCommand(made, on: .error, before: word, of: rehearsal.errorOutput)
          #expect(try await command.holds(password) == isThere, "password \(number): \(word)")
          #expect(try await command.finish() == 0)
        }
      }
      await server.stop()
    }

    @Test("otp and approve have wiped the password before they write the result")
    func use() async throws {
      var rehearsed: String?
      for (number, password) in Self.passwords.enumerated() {
        let user = "user\(number)"
        let device = server.device(user)
        _ = try await device.json("activate", "--code-file", server.codeFile(user), passwords: [password])
        let code = try HeldCommand(
          device.process(["otp"], passwords: [password]), on: .output, before: "", of: "")
        #expect(try await !code.holds(password), "password \(number)")
        #expect(try await code.finish() == 0)
        if rehearsed == nil {
          _ = try await server.ask(user, "Pay 250.00 EUR")
          let rehearsal = try await device.run("approve", "--yes", passwords: [password])
          try #require(rehearsal.status == 0, rehearsal.summary)
          rehearsed = rehearsal.output
        }
        let text = try #require(rehearsed)
        let last = try #require(text.split(separator: "\n").last)
        _ = try await server.ask(user, "Pay 251.00 EUR")
        let decision = try HeldCommand(
          device.process(["approve", "--yes"], passwords: [password]), on: .output, before: String(last),
          of: text)
        #expect(try await !decision.holds(password), "password \(number)")
        #expect(try await decision.finish() == 0)
      }
      await server.stop()
    }
  }

  /// A command that blocks in the middle of its work because its output pipe is full.
  private final class HeldCommand: Sendable {
    enum Stream { case output, error }

    // Linux constants that Swift does not import.
    private static let setPipeSize: Int32 = 1031
    #if arch(x86_64)
      private static let write = "1"
    #else
      private static let write = "64"
    #endif

    private let process: ChildProcess
    private let folder: String
    private let pipe = Pipe()

    /// Starts the command with room in the pipe for the output before a word.
    init(_ command: ChildCommand, on stream: Stream, before word: String, of text: String) throws {
      folder = try #require(command.line.dropFirst().first { $0.hasPrefix("/") })
      let room = word.isEmpty ? 0 : try #require(text.range(of: word)?.lowerBound.utf16Offset(in: text))
      let writing = pipe.fileHandleForWriting
      // A pipe has at least one page; writes of up to a page are atomic.
      let capacity = Int(fcntl(writing.fileDescriptor, Self.setPipeSize, getpagesize()))
      try #require(capacity >= room && capacity <= 1 << 16)
      try writing.write(contentsOf: Data(repeating: 0x2E, count: capacity - room))
      var command = command
      (command.output, command.errorOutput) = (.none, .none)
      switch stream {
      case .output: command.output = .descriptor(writing.fileDescriptor)
      case .error: command.errorOutput = .descriptor(writing.fileDescriptor)
      }
      process = try command.start()
      try writing.close()
    }

    deinit { process.kill() }

    /// Waits until the command blocks, then searches for a password: as typed, prepared for key derivation, and in between.
    func holds(_ password: String) async throws -> Bool {
      while try !isHeld() {
        try #require(process.isRunning, "it has not waited")
        try await Task.sleep(for: .milliseconds(5))
      }
      let search = try MemorySearch(process: process.id)
      let prepared = password.precomposedStringWithCanonicalMapping
      search.add("password", SecretBytes(copying: Array(password.utf8)))
      search.add("prepared", SecretBytes(copying: Array(prepared.utf8)))
      search.add(charactersOf: "characters", SecretBytes(copying: Array(prepared.utf8)))
      // The control: a value that is not secret is found.
      search.add("control", SecretBytes(copying: Array(folder.utf8)))
      let found = try search.found()
      #expect(found.keys.contains { $0.hasPrefix("control") })
      try #require(try isHeld(), "it went on")
      return found.keys.contains { !$0.hasPrefix("control") }
    }

    /// Indicates whether one of its threads is blocked in `write`.
    private func isHeld() throws -> Bool {
      let tasks = "/proc/\(process.id)/task"
      return try FileManager.default.contentsOfDirectory(atPath: tasks).contains { task in
        guard let bytes = FileManager.default.contents(atPath: "\(tasks)/\(task)/syscall") else {
          return false
        }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return words.first.map(String.init) == Self.write && ["0x1", "0x2"].contains(words.dropFirst().first)
      }
    }

    /// Reads the output to its end and returns the exit status.
    func finish() async throws -> Int32 {
      let reading = pipe.fileHandleForReading
      Thread.detachNewThread { _ = reading.readDataToEndOfFile() }
      return try await process.end()
    }
  }
#endif
