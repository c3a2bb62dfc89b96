import Foundation
import SignetTestKit
import Testing

/// A `signet` with a pseudo-terminal as its controlling terminal, on which the test types.
final class ControllingTerminal: Sendable {
  private static let setsid = "/usr/bin/setsid"
  private let terminal: PseudoTerminal
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
    terminal = try PseudoTerminal()
    // A wide terminal keeps each expected text in one row; ScreenTests has narrow ones.
    var size = winsize(ws_row: 50, ws_col: 1000, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(terminal.master, UInt(TIOCSWINSZ), &size) == 0)
    var command = device
    command.launcher = [Self.setsid, "--ctty", "--wait"] + device.launcher
    var line = try command.process(words)
    line.environment["TERM"] = type
    line.input = .descriptor(terminal.device)
    line.output = .descriptor(terminal.device)
    line.errorOutput = .joined
    process = try line.start()
  }

  deinit { process.send(SIGTERM) }

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
      #expect(!terminal.hasEcho)
    }
    terminal.type(newline ? text + "\n" : text)
  }

  /// Waits for the end; returns the exit status and all output.
  func end() async throws -> (status: Int32, shown: String) {
    let status = try await process.end()
    while read(timeout: 0) {}
    #expect(terminal.hasEcho)
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
    guard let part = terminal.output(within: timeout) else { return false }
    shown.text += String(decoding: part, as: UTF8.self).replacing("\r\n", with: "\n")
    return true
  }
}
