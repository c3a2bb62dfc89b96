import Foundation
import SignetTerminal
import SignetTestKit
import Testing

/// Copies lent bytes, for comparison only.
@Sendable private func copy(_ span: RawSpan) -> [UInt8] {
  (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
}

@Suite("Secrets from a terminal", .timeLimit(.minutes(10))) struct TerminalSecretTests {
  @Test("are not shown, and the terminal is restored")
  func noEcho() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.settings
    async let secret = SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
    #expect(try await terminal.shown(until: "Password: ") == "Password: ")
    #expect(!terminal.hasEcho)
    terminal.type("hunter2\n")
    #expect(try await secret == Array("hunter2".utf8))
    #expect(terminal.shownNow() == "\r\n")
    #expect(terminal.settings == before)
    #expect(terminal.hasEcho)
  }

  @Test("may be edited while they are typed, and may be any bytes")
  func editing() async throws {
    let terminal = try PseudoTerminal()
    let input = SecretInput.terminal(at: terminal.path)
    async let edited = input.read("1: ", into: copy)
    _ = try await terminal.shown(until: "1: ")
    terminal.type("wrong\u{15}abX\u{7F}c\n")  // Ctrl-U erases the line, DEL the last character.
    #expect(try await edited == Array("abc".utf8))
    async let bytes = input.read("2: ", into: copy)
    _ = try await terminal.shown(until: "2: ")
    terminal.type([0xC3, 0xA9, 0xFF, 0x80, 0x0A])
    #expect(try await bytes == [0xC3, 0xA9, 0xFF, 0x80])
    async let empty = input.read("3: ", into: copy)
    _ = try await terminal.shown(until: "3: ")
    terminal.type("\n")
    #expect(try await empty == [])
  }

  @Test("typed visibly before the prompt are dropped")
  func typedAhead() async throws {
    let terminal = try PseudoTerminal()
    terminal.type("early\n")
    _ = try await terminal.shown(until: "early")  // its echo: the terminal has received it
    async let secret = SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
    _ = try await terminal.shown(until: "Password: ")
    terminal.type("late\n")
    #expect(try await secret == Array("late".utf8))
  }

  @Test("of 4094 bytes are read, longer ones refused whole", arguments: [4094, 4095, 4096, 6000])
  func longest(_ count: Int) async throws {
    let terminal = try PseudoTerminal()
    async let outcome = Result {
      try await SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
    }
    _ = try await terminal.shown(until: "Password: ")
    terminal.type(String(repeating: "x", count: count) + "\n")
    let result = await outcome
    if count <= 4094 {
      #expect(try result.get().count == count)
    } else {
      #expect(throws: SecretInputFailure.tooLong(maximumByteCount: 4094)) { try result.get() }
    }
    #expect(terminal.hasEcho)
    #expect(terminal.inputNow() == [])
  }

  @Test("end of input")
  func endOfInput() async throws {
    let terminal = try PseudoTerminal()
    let input = SecretInput.terminal(at: terminal.path)
    async let nothing = Result { try await input.read("1: ", into: copy) }
    _ = try await terminal.shown(until: "1: ")
    terminal.type("\u{4}")
    let result = await nothing
    #expect(throws: SecretInputFailure.cancelled) { try result.get() }
    #expect(SecretInputFailure.cancelled.exitCode == .interrupted)
    #expect(terminal.hasEcho)
    async let some = input.read("2: ", into: copy)
    _ = try await terminal.shown(until: "2: ")
    terminal.type("abc\u{4}\u{4}")
    #expect(try await some == Array("abc".utf8))
  }

  @Test("after cancellation the terminal is restored and a partial secret is discarded")
  func cancellation() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.settings
    let task = Task { try await SecretInput.terminal(at: terminal.path).read("Password: ", into: copy) }
    _ = try await terminal.shown(until: "Password: ")
    terminal.type("half")
    task.cancel()
    await #expect(throws: SecretInputFailure.cancelled) { try await task.value }
    #expect(terminal.settings == before)
    terminal.type("\n")
    #expect(terminal.inputNow() == [0x0A])
  }

  @Test("a task that was cancelled before the prompt")
  func cancelledBefore() async throws {
    let terminal = try PseudoTerminal()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
    }
    await #expect(throws: SecretInputFailure.cancelled) { try await task.value }
    #expect(terminal.hasEcho)
  }

  @Test("the closure's error is rethrown, and the terminal is restored")
  func closureThrows() async throws {
    let terminal = try PseudoTerminal()
    async let outcome = Result {
      try await SecretInput.terminal(at: terminal.path).read("Password: ") { _ in throw SampleFailure() }
    }
    _ = try await terminal.shown(until: "Password: ")
    terminal.type("x\n")
    let result = await outcome
    #expect(throws: SampleFailure.self) { try result.get() }
    #expect(terminal.hasEcho)
  }

  @Test("without a terminal", arguments: [("/nonexistent/tty", ENOENT), ("/dev/null", ENOTTY)])
  func noTerminal(_ path: String, _ code: Int32) async {
    await #expect(throws: SecretInputFailure.noTerminal(code: code)) {
      try await SecretInput.terminal(at: path).read("Password: ", into: copy)
    }
  }

  @Test("ten prompts at once wait for each other")
  func manyPrompts() async throws {
    let terminal = try PseudoTerminal()
    let input = SecretInput.terminal(at: terminal.path)
    let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<10 { group.addTask { try await input.read("Next: ", into: copy) } }
      for index in 0..<10 {
        _ = try await terminal.shown(until: "Next: ")
        terminal.type("\(index)\n")
      }
      return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
    }
    #expect(secrets == Set((0..<10).map { Array("\($0)".utf8) }))
    #expect(terminal.hasEcho)
  }
}

@Suite("Restoring a terminal", .timeLimit(.minutes(10))) struct RestorationTests {
  @Test("when Ctrl-C ends the process")
  func interrupt() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.settings
    let path = terminal.path
    let person = terminal.person { terminal in
      #expect(terminal.waits(for: "Password: "))
      #expect(!terminal.hasEcho)
      terminal.type("half\u{3}")
    }
    await #expect(processExitsWith: .signal(SIGINT)) { [path = path as String] in
      // A new session with the pseudo-terminal as its controlling one, as in a real window.
      #expect(setsid() > 0)
      let number = open(path, O_RDWR)
      #expect(number >= 0)
      try await SecretInput.terminal.read("Password: ") { _ in }
    }
    await person.value
    #expect(terminal.settings == before)
  }

  @Test("when the process calls exit while a prompt is open")
  func exiting() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.settings
    let path = terminal.path
    let stop = try PseudoTerminal()
    let stopPath = stop.path
    let person = terminal.person { terminal in
      #expect(terminal.waits(for: "Password: "))
      #expect(!terminal.hasEcho)
      stop.type("now\n")
    }
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String, stopPath = stopPath as String] in
      Thread.detachNewThread {
        let number = open(stopPath, O_RDONLY | O_NOCTTY)
        var byte: UInt8 = 0
        _ = Foundation.read(number, &byte, 1)
        exit(7)
      }
      try await SecretInput.terminal(at: path).read("Password: ") { _ in }
    }
    await person.value
    #expect(terminal.settings == before)
  }

  @Test("when a signal comes that the program catches", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func caught(_ number: Int32) async {
    await #expect(processExitsWith: .success) { [number = number as Int32] in
      signal(number) { _ in }
      let terminal = try PseudoTerminal()
      let before = terminal.settings
      async let outcome = Result {
        try await SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
      }
      _ = try await terminal.shown(until: "Password: ")
      terminal.type("half")
      kill(getpid(), number)
      let result = await outcome
      #expect(throws: SecretInputFailure.interrupted(signal: number)) { try result.get() }
      #expect(terminal.settings == before)
      terminal.type("\n")
      #expect(terminal.inputNow() == [0x0A])
    }
  }

  @Test("while the process is stopped; then the prompt reappears")
  func suspended() async {
    await #expect(processExitsWith: .success) {
      signal(SIGTSTP) { _ in }
      let terminal = try PseudoTerminal()
      async let secret = SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
      _ = try await terminal.shown(until: "Password: ")
      terminal.type("half")
      kill(getpid(), SIGTSTP)
      #expect(try await terminal.shown(until: "Password: ") == "\r\nPassword: ")
      terminal.type("whole\n")
      #expect(try await secret == Array("whole".utf8))
      #expect(terminal.hasEcho)
    }
  }

  @Test("and an ignored signal stays ignored")
  func ignored() async {
    await #expect(processExitsWith: .success) {
      signal(SIGHUP, SIG_IGN)
      let terminal = try PseudoTerminal()
      async let secret = SecretInput.terminal(at: terminal.path).read("Password: ", into: copy)
      _ = try await terminal.shown(until: "Password: ")
      kill(getpid(), SIGHUP)
      terminal.type("whole\n")
      #expect(try await secret == Array("whole".utf8))
    }
  }
}

@Suite("Secrets from a descriptor", .timeLimit(.minutes(10))) struct DescriptorSecretTests {
  @Test("are read line by line, and the rest stays unread")
  func lines() async throws {
    let pipe = try TestPipe(ended: "one\n\ntwo \r\nthree")
    let input = SecretInput.descriptor(pipe.readEnd)
    #expect(try await input.read("", into: copy) == Array("one".utf8))
    #expect(try await input.read("", into: copy) == [])
    var byte: UInt8 = 0
    #expect(read(pipe.readEnd, &byte, 1) == 1 && byte == UInt8(ascii: "t"))
    #expect(try await input.read("", into: copy) == Array("wo \r".utf8))
    #expect(try await input.read("", into: copy) == Array("three".utf8))
    await #expect(throws: SecretInputFailure.endOfInput) { try await input.read("", into: copy) }
  }

  @Test("an empty input")
  func empty() async throws {
    let pipe = try TestPipe(ended: "")
    await #expect(throws: SecretInputFailure.endOfInput) {
      try await SecretInput.descriptor(pipe.readEnd).read("", into: copy)
    }
  }

  @Test("of 4094 bytes are read; after a longer one the next line is whole")
  func longest() async throws {
    let most = String(repeating: "x", count: 4094)
    let pipe = try TestPipe(ended: "\(most)\n\(most)y\nnext\n\(most)y")
    let input = SecretInput.descriptor(pipe.readEnd)
    #expect(try await input.read("", into: copy) == Array(most.utf8))
    let refusal = SecretInputFailure.tooLong(maximumByteCount: 4094)
    await #expect(throws: refusal) { try await input.read("", into: copy) }
    #expect(try await input.read("", into: copy) == Array("next".utf8))
    await #expect(throws: refusal) { try await input.read("", into: copy) }
  }

  @Test("256 characters fit in the longest encoding")
  func decomposed() async throws {
    let typed = String(repeating: "e\u{323}\u{302}", count: 256)
    let pipe = try TestPipe(ended: "\(typed)\n")
    #expect(try await SecretInput.descriptor(pipe.readEnd).read("", into: copy) == Array(typed.utf8))
  }

  @Test("that is not open, is for writing, or is a terminal")
  func unusable() async throws {
    await #expect(throws: SecretInputFailure.descriptorUnusable(9999)) {
      try await SecretInput.descriptor(9999).read("", into: copy)
    }
    await #expect(throws: SecretInputFailure.descriptorUnusable(-1)) {
      try await SecretInput.descriptor(-1).read("", into: copy)
    }
    let pipe = try TestPipe()
    defer { pipe.closeWriteEnd() }
    await #expect(throws: SecretInputFailure.descriptorUnusable(pipe.writable)) {
      try await SecretInput.descriptor(pipe.writable).read("", into: copy)
    }
    let terminal = try PseudoTerminal()
    await #expect(throws: SecretInputFailure.descriptorIsTerminal(terminal.device)) {
      try await SecretInput.descriptor(terminal.device).read("", into: copy)
    }
  }

  @Test("that never arrives can be cancelled")
  func cancellation() async throws {
    let pipe = try TestPipe(Array("half".utf8))
    defer { pipe.closeWriteEnd() }
    let task = Task { try await SecretInput.descriptor(pipe.readEnd).read("", into: copy) }
    task.cancel()
    await #expect(throws: SecretInputFailure.cancelled) { try await task.value }
  }

  @Test("each failure names its own remedy")
  func sentences() {
    let failures: [SecretInputFailure] = [
      .noTerminal(code: 6), .descriptorUnusable(3), .descriptorIsTerminal(3), .endOfInput,
      .tooLong(maximumByteCount: 4094), .notText, .noAnswer, .interrupted(signal: 2), .cancelled,
      .unreadable(code: 5),
    ]
    #expect(Set(failures.map(\.description)).count == failures.count)
    #expect(failures.allSatisfy { $0.exitCode != .success })
  }
}

@Suite("Yes-or-no questions", .timeLimit(.minutes(10))) struct QuestionTests {
  /// Typed lines, the answer of an empty one, and the result.
  struct Dialogue: Sendable {
    let answers: [String]
    var preset: Bool?
    let expected: Bool
  }

  @Test(
    "are answered with yes or no",
    arguments: [
      Dialogue(answers: ["y"], expected: true), Dialogue(answers: ["YES"], expected: true),
      Dialogue(answers: ["n"], expected: false), Dialogue(answers: ["No"], expected: false),
      Dialogue(answers: [" yes "], expected: true), Dialogue(answers: ["what", "", "y"], expected: true),
      Dialogue(answers: [""], preset: true, expected: true),
      Dialogue(answers: [""], preset: false, expected: false),
      Dialogue(answers: ["x", ""], preset: false, expected: false),
    ])
  func confirm(_ dialogue: Dialogue) async throws {
    let preset = dialogue.preset
    let terminal = try PseudoTerminal()
    async let answer = Question(at: terminal.path).confirm("Delete \("\u{202E}")it", preset: preset)
    for (index, line) in dialogue.answers.enumerated() {
      let shown = try await terminal.shown(until: "] ")
      #expect(shown.contains("Answer y or n.\r\nDelete ") == (index > 0), "\(shown)")
      #expect(shown.hasSuffix("Delete \\u{202E}it? [\(preset.map { $0 ? "Y/n" : "y/N" } ?? "y/n")] "))
      #expect(terminal.hasEcho)
      terminal.type(line + "\n")
    }
    #expect(try await answer == dialogue.expected)
  }

  @Test("without an answer the result is no")
  func noAnswer() async throws {
    let terminal = try PseudoTerminal()
    async let outcome = Result { try await Question(at: terminal.path).confirm("Delete it") }
    for _ in 0..<3 {
      _ = try await terminal.shown(until: "] ")
      terminal.type("maybe\n")
    }
    let result = await outcome
    #expect(throws: SecretInputFailure.noAnswer) { try result.get() }
    async let ended = Result { try await Question(at: terminal.path).confirm("Delete it", preset: true) }
    _ = try await terminal.shown(until: "] ")
    terminal.type("\u{4}")
    let end = await ended
    #expect(throws: SecretInputFailure.cancelled) { try end.get() }
  }

  @Test("a line of text")
  func line() async throws {
    let terminal = try PseudoTerminal()
    async let text = Question(at: terminal.path).line("Server: ")
    _ = try await terminal.shown(until: "Server: ")
    terminal.type("  https://é.example  \n")
    #expect(try await text == "https://é.example")
    #expect(terminal.shownNow() == "  https://é.example  \r\n")
    async let outcome = Result { try await Question(at: terminal.path).line("Server: ") }
    _ = try await terminal.shown(until: "Server: ")
    terminal.type([0xFF, 0x0A])
    let result = await outcome
    #expect(throws: SecretInputFailure.notText) { try result.get() }
  }
}

extension Result where Failure == any Error {
  /// Creates the result of an asynchronous call.
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

@Suite("Secrets from a file", .timeLimit(.minutes(10))) struct FileSecretTests {
  @Test("are its first line; an empty file, a missing one and a long line are refused")
  func lines() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { unlink(path) }
    let input = SecretInput.file(at: path)
    await #expect(throws: SecretInputFailure.unreadable(code: ENOENT)) {
      try await input.read("", into: copy)
    }
    for (text, line) in [("abc\r\ndef\n", "abc\r"), ("abc", "abc"), ("\n", "")] {
      try Data(text.utf8).write(to: URL(filePath: path))
      #expect(try await input.read("", into: copy) == Array(line.utf8))
      // Opened anew each time.
      #expect(try await input.read("", into: copy) == Array(line.utf8))
    }
    try Data().write(to: URL(filePath: path))
    await #expect(throws: SecretInputFailure.endOfInput) { try await input.read("", into: copy) }
    try Data(repeating: 0x61, count: 4095).write(to: URL(filePath: path))
    await #expect(throws: SecretInputFailure.tooLong(maximumByteCount: 4094)) {
      try await input.read("", into: copy)
    }
    #expect(!input.isTerminal)
  }
}
