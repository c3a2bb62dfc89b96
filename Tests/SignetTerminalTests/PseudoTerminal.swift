import Foundation
import Testing

/// A real terminal on which the test types.
final class PseudoTerminal: Sendable {
  /// The user's side.
  private let master: Int32
  /// Held open, so that the terminal does not hang up between two prompts.
  private let held: Int32
  /// The device that a program opens.
  let path: String

  private let queue = DispatchQueue(label: "pseudo-terminal")

  init() throws {
    #if os(Linux)
      // The requests of tty_ioctl(4) behind `unlockpt` and `ptsname`, which Swift's Glibc module leaves out.
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(master >= 0)
      var lock: Int32 = 0
      var number: UInt32 = 0
      try #require(ioctl(master, 0x4004_5431, &lock) == 0)
      try #require(ioctl(master, 0x8004_5430, &number) == 0)
      path = "/dev/pts/\(number)"
    #else
      master = posix_openpt(O_RDWR | O_NOCTTY)
      try #require(master >= 0)
      try #require(grantpt(master) == 0 && unlockpt(master) == 0)
      path = String(cString: try #require(ptsname(master)))
    #endif
    held = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(held >= 0)
  }

  deinit {
    close(held)
    close(master)
  }

  /// The program's side, for settings.
  var device: Int32 { held }

  /// All settings, byte for byte.
  var settings: [UInt8] {
    var settings = termios()
    guard tcgetattr(held, &settings) == 0 else { return [] }
    return withUnsafeBytes(of: &settings) { Array($0) }
  }

  var hasEcho: Bool {
    var settings = termios()
    return tcgetattr(held, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  func type(_ text: String) { type(Array(text.utf8)) }

  func type(_ bytes: [UInt8]) {
    #expect(bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) } == bytes.count)
  }

  /// Returns the output up to `text`, which must come within five minutes.
  func shown(until text: String) async throws -> String {
    let all = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.read { $0.contains(text) }) }
    }
    try #require(all.contains(text), "shown was \(all.debugDescription)")
    return all
  }

  /// Watches and types on a separate thread while the test waits for a process to exit, since that wait blocks a thread of the
  /// shared pool.
  func person(_ work: @escaping @Sendable (PseudoTerminal) -> Void) -> Task<Void, Never> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    Thread.detachNewThread {
      work(self)
      continuation.finish()
    }
    return Task { for await _ in stream {} }
  }

  /// Waits on this thread until `text` appears; returns false after five minutes.
  func waits(for text: String) -> Bool { queue.sync { read { $0.contains(text) }.contains(text) } }

  /// Returns the current output without waiting.
  func shownNow() -> String {
    queue.sync { read(timeout: 0) { _ in false } }
  }

  /// Returns the input that a program would read now, without waiting.
  func inputNow() -> [UInt8] {
    let number = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    defer { close(number) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Foundation.read(number, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  private func read(timeout: Int32 = 300_000, until isEnough: (String) -> Bool) -> String {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while !isEnough(String(decoding: all, as: UTF8.self)) {
      var watched = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, timeout) == 1, watched.revents & Int16(POLLIN) != 0 else { break }
      let count = Foundation.read(master, &part, part.count)
      guard count > 0 else { break }
      all += part[..<count]
    }
    return String(decoding: all, as: UTF8.self)
  }
}

/// A pipe with its ends, closed with its single owner.
final class TestPipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init(_ bytes: [UInt8] = []) throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    (readEnd, writeEnd) = (ends[0], ends[1])
    if !bytes.isEmpty { try #require(write(writeEnd, bytes, bytes.count) == bytes.count) }
  }

  convenience init(ended text: String) throws {
    try self.init(Array(text.utf8))
    closeWriteEnd()
  }

  deinit { close(readEnd) }

  /// Ends the input; called once by the pipe's creator.
  func closeWriteEnd() { close(writeEnd) }

  var writable: Int32 { writeEnd }
}
