import Foundation
import SignetTestKit
import Testing

/// A `signet` with a pseudo-terminal as its controlling terminal, on which the test types.
final class ControllingTerminal: Sendable {
  private static let setsid = "/usr/bin/setsid"
  private let master: Int32
  private let held: Int32
  /// The started process; the program may be its child.
  let process: ChildProcess
  private let shown = Shown()

  /// The output so far; only one thread at a time uses it.
  private final class Shown: @unchecked Sendable {
    var text = ""
    /// The position at which the next expectation begins.
    var position = 0
  }

  /// Starts the command in a new session on a new terminal (`setsid --ctty`, `setsid(1)`).
  init(_ device: InstalledSignet, _ words: [String], type: String = "xterm") throws {
    // The requests of tty_ioctl(4) behind `unlockpt` and `ptsname`, which Swift's Glibc module leaves out.
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(master >= 0)
    var lock: Int32 = 0
    var number: UInt32 = 0
    try #require(ioctl(master, 0x4004_5431, &lock) == 0)
    try #require(ioctl(master, 0x8004_5430, &number) == 0)
    held = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(held >= 0)
    // A wide terminal keeps each expected text in one row; ScreenTests has narrow ones.
    var size = winsize(ws_row: 50, ws_col: 1000, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
    var command = device
    command.launcher = [Self.setsid, "--ctty", "--wait"] + device.launcher
    var line = try command.process(words)
    line.environment["TERM"] = type
    (line.input, line.output, line.errorOutput) = (.descriptor(held), .descriptor(held), .joined)
    process = try line.start()
  }

  deinit {
    process.send(SIGTERM)
    close(held)
    close(master)
  }

  /// Indicates whether the terminal echoes input.
  private var hasEcho: Bool {
    var settings = termios()
    return tcgetattr(held, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Waits until the text appears after the previously expected one, five minutes at most.
  func expect(_ text: String) throws {
    while true {
      let rest = shown.text.dropFirst(shown.position)
      if let range = rest.firstRange(of: text) {
        shown.position = shown.text.distance(from: shown.text.startIndex, to: range.upperBound)
        return
      }
      let hasCome = read(timeout: 300_000)
      try #require(hasCome, "expected \(text.debugDescription), shown was \(shown.text.debugDescription)")
    }
  }

  /// Waits for a prompt and types an answer; a password prompt must have echo off.
  func answer(_ prompt: String, _ text: String, newline: Bool = true, isSecret: Bool? = nil) throws {
    try expect(prompt)
    let isPassword =
      prompt.isEmpty || prompt.lowercased().contains("password") || prompt.hasPrefix("Repeat")
    if isSecret ?? isPassword {
      #expect(!hasEcho)
    }
    let bytes = Array((newline ? text + "\n" : text).utf8)
    try #require(write(master, bytes, bytes.count) == bytes.count)
  }

  /// Waits for the end; returns the exit status and all output.
  func end() async throws -> (status: Int32, shown: String) {
    let status = try await process.end()
    while read(timeout: 0) {}
    #expect(hasEcho)
    return (status, shown.text)
  }

  /// Sends a signal to the program itself, below any launcher, and waits until it has ended.
  ///
  /// - Returns: The exit status of the launcher.
  func end(with signal: Int32) async throws -> Int32 {
    var id = process.id
    while let child = try Self.children(of: id).first { id = child }
    try #require(kill(id, signal) == 0)
    return try await process.end()
  }

  private static func children(of process: Int32) throws -> [Int32] {
    let text = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  private func read(timeout: Int32) -> Bool {
    var watched = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, timeout) == 1 else { return false }
    var part = [UInt8](repeating: 0, count: 4096)
    let count = Foundation.read(master, &part, part.count)
    guard count > 0 else { return false }
    shown.text += String(decoding: part[..<count], as: UTF8.self).replacing("\r\n", with: "\n")
    return true
  }
}
