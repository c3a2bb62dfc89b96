import Foundation
import SignetTerminal
import SignetTestKit
import Testing

import class SignetTerminal.LineBuffer

@Suite("Text output", .timeLimit(.minutes(10))) struct TerminalTests {
  @Test(
    "has colour on a terminal only, as the environment sets",
    arguments: [
      (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": ""], true),
      (["TERM": "xterm", "NO_COLOR": "1"], false), (["TERM": "dumb"], false), ([:], false),
      (["TERM": ""], false),
    ])
  func colour(_ environment: [String: String], _ expected: Bool) throws {
    let pseudo = try PseudoTerminal()
    let terminal = Terminal(descriptor: pseudo.device, environment: environment)
    #expect(terminal.isTerminal)
    #expect(terminal.usesColour == expected)
    #expect(terminal.styled("x", .bold, .red) == (expected ? "\u{1B}[1;31mx\u{1B}[0m" : "x"))
    #expect(terminal.styled("x") == "x")
    let pipe = try TestPipe()
    defer { pipe.closeWriteEnd() }
    let other = Terminal(descriptor: pipe.writable, environment: environment)
    #expect(!other.isTerminal && !other.usesColour)
    #expect(other.styled("x", .bold) == "x")
  }

  @Test(
    "knows the locale's characters",
    arguments: [
      (["LANG": "en_GB.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "C"], false), ([:], false),
      (["LANG": "C", "LC_CTYPE": "de_DE.UTF-8"], true), (["LC_ALL": "C", "LANG": "en_GB.UTF-8"], false),
      (["LC_ALL": "", "LANG": "en_GB.UTF-8"], true),
    ])
  func characters(_ environment: [String: String], _ expected: Bool) {
    #expect(Terminal(descriptor: 2, environment: environment).usesUTF8 == expected)
  }

  @Test("has the width of the window, or of COLUMNS, or 80, within bounds")
  func width() throws {
    let pseudo = try PseudoTerminal()
    for (columns, expected) in [(132, 132), (5, 20), (5000, 1000)] as [(UInt16, Int)] {
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      try #require(ioctl(pseudo.device, UInt(TIOCSWINSZ), &size) == 0)
      #expect(Terminal(descriptor: pseudo.device, environment: ["COLUMNS": "60"]).width == expected)
    }
    let pipe = try TestPipe()
    defer { pipe.closeWriteEnd() }
    #expect(Terminal(descriptor: pipe.writable, environment: ["COLUMNS": "60"]).width == 60)
    #expect(Terminal(descriptor: pipe.writable, environment: ["COLUMNS": "x"]).width == 80)
    #expect(Terminal(descriptor: pipe.writable, environment: [:]).width == 80)
  }

  @Test("writes a long text completely, even to a non-blocking pipe", arguments: [false, true])
  func longText(_ isNonblocking: Bool) async throws {
    let pipe = try TestPipe()
    if isNonblocking { try #require(fcntl(pipe.writable, F_SETFL, O_NONBLOCK) == 0) }
    let text = String(repeating: "0123456789abcde\n", count: 20_000)
    let end = pipe.readEnd
    async let received = withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      Thread.detachNewThread {
        var total = 0
        var part = [UInt8](repeating: 0, count: 4096)
        while case let count = read(end, &part, part.count), count > 0 { total += count }
        continuation.resume(returning: total)
      }
    }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        Terminal(descriptor: pipe.writable, environment: [:]).write(ours: text)
        pipe.closeWriteEnd()
        continuation.resume()
      }
    }
    #expect(await received == text.utf8.count)
  }

  @Test(
    "remembers a write failure, and the program reports it",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func full() async throws {
    let number = open("/dev/full", O_WRONLY)
    try #require(number >= 0)
    defer { close(number) }
    let messages = Collector()
    let output = Terminal(descriptor: number, environment: [:])
    #expect(output.writeFailure == nil)
    let code = await sampleProgram().run(["user", "list"], output: output, errorOutput: messages.terminal())
    #expect(output.writeFailure == ENOSPC)
    #expect(code == .inputOutput)
    #expect(
      messages.text
        == "sample user list: cannot write the output: No space left on device; what was asked for was done\n"
    )
    let helped = Collector()
    _ = await sampleProgram().run(["--help"], output: output, errorOutput: helped.terminal())
    #expect(helped.text == "sample: cannot write the output: No space left on device\n")
  }

  @Test("exit codes are those of sysexits.h")
  func exitCodes() {
    let codes: [(ExitCode, Int32)] = [
      (.success, 0), (.failure, 1), (.usage, 64), (.dataError, 65), (.noInput, 66), (.noUser, 67),
      (.noHost, 68),
      (.unavailable, 69), (.software, 70), (.systemError, 71), (.cannotCreate, 73), (.inputOutput, 74),
      (.temporaryFailure, 75), (.protocolError, 76), (.permissionDenied, 77), (.configuration, 78),
      (.interrupted, 128 + SIGINT),
    ]
    for (code, number) in codes { #expect(Int32(code.rawValue) == number) }
  }

  @Test("main ends the process with the code of the command")
  func main() async {
    await #expect(processExitsWith: .exitCode(76)) {
      let program = Program(
        "p", "Fail", version: "1", date: "2026-11-21",
        commands: [Command("fail", "Fail") { _ in .protocolError }])
      exit(Int32(await program.run(["fail"]).rawValue))
    }
  }
}

@Suite("The buffer of a line", .timeLimit(.minutes(10))) struct LineBufferTests {
  @Test("is overwritten when it is wiped")
  func wiping() throws {
    let buffer = LineBuffer(capacity: 64)
    for byte in "a secret".utf8 { #expect(buffer.append(byte)) }
    let address = buffer.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    let memory = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: 64)
    #expect(memory.prefix(8).elementsEqual("a secret".utf8))
    buffer.wipe()
    #expect(memory.allSatisfy { $0 == 0 })
    #expect(buffer.count == 0)
    withExtendedLifetime(buffer) {}
  }

  @Test("holds no more than its capacity")
  func capacity() {
    let buffer = LineBuffer(capacity: 2)
    #expect(buffer.append(1) && buffer.append(2) && !buffer.append(3))
    #expect(buffer.count == 2)
  }
}
