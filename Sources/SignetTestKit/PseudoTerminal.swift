import Foundation

/// A real terminal on which the test types.
package final class PseudoTerminal: Sendable {
  /// The system gave no terminal, or an expected output did not appear.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The user's side.
  package let master: Int32
  /// The program's side, held open so that the terminal does not hang up between two programs.
  package let device: Int32
  /// The path of the program's side.
  package let path: String

  private let queue = DispatchQueue(label: "pseudo-terminal")

  /// Opens a terminal.
  ///
  /// - Throws: ``Failure``.
  package init() throws {
    #if os(Linux)
      // The requests of tty_ioctl(4) behind `unlockpt` and `ptsname`, which Swift's Glibc module leaves out.
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var lock: Int32 = 0
      var number: UInt32 = 0
      guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0
      else { throw Failure(description: "there is no pseudo-terminal: error \(errno)") }
      path = "/dev/pts/\(number)"
    #else
      master = posix_openpt(O_RDWR | O_NOCTTY)
      guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
        throw Failure(description: "there is no pseudo-terminal: error \(errno)")
      }
      path = String(cString: name)
    #endif
    device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard device >= 0 else { throw Failure(description: "\(path) cannot be opened: error \(errno)") }
  }

  deinit {
    close(device)
    close(master)
  }

  /// All settings, byte for byte.
  package var settings: [UInt8] {
    var settings = termios()
    guard tcgetattr(device, &settings) == 0 else { return [] }
    return withUnsafeBytes(of: &settings) { Array($0) }
  }

  /// Indicates whether the terminal echoes input.
  package var hasEcho: Bool {
    var settings = termios()
    return tcgetattr(device, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Types a text.
  package func type(_ text: String) { type(Array(text.utf8)) }

  /// Types bytes.
  package func type(_ bytes: [UInt8]) {
    let count = write(master, bytes, bytes.count)
    precondition(count == bytes.count, "the terminal accepted \(count) of \(bytes.count) bytes")
  }

  /// Waits for output.
  ///
  /// - Parameter milliseconds: The time limit; 0 for the output that is there.
  /// - Returns: A part of the output; `nil` if none comes in time, or the terminal hangs up.
  package func output(within milliseconds: Int32) -> [UInt8]? {
    var watched = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, milliseconds) == 1 else { return nil }
    var part = [UInt8](repeating: 0, count: 4096)
    let count = read(master, &part, part.count)
    return count > 0 ? Array(part[..<count]) : nil
  }

  /// Waits until `text` appears, five minutes at most.
  ///
  /// - Returns: The output since the last call.
  /// - Throws: ``Failure`` if the text does not appear.
  package func shown(until text: String) async throws -> String {
    let all = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.collect { $0.contains(text) }) }
    }
    guard all.contains(text) else { throw Failure(description: "shown was \(all.debugDescription)") }
    return all
  }

  /// Watches and types on a separate thread while the test waits for a process to exit, since that wait blocks a thread of the
  /// shared pool.
  package func person(_ work: @escaping @Sendable (PseudoTerminal) -> Void) -> Task<Void, Never> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    Thread.detachNewThread {
      work(self)
      continuation.finish()
    }
    return Task { for await _ in stream {} }
  }

  /// Waits on this thread until `text` appears; returns false after five minutes.
  package func waits(for text: String) -> Bool {
    queue.sync { collect { $0.contains(text) }.contains(text) }
  }

  /// Returns the current output without waiting.
  package func shownNow() -> String {
    queue.sync { collect(timeout: 0) { _ in false } }
  }

  /// Returns the input that a program would read now, without waiting.
  package func inputNow() -> [UInt8] {
    let number = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    defer { close(number) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(number, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  private func collect(timeout: Int32 = 300_000, until isEnough: (String) -> Bool) -> String {
    var all: [UInt8] = []
    while !isEnough(String(decoding: all, as: UTF8.self)), let part = output(within: timeout) {
      all += part
    }
    return String(decoding: all, as: UTF8.self)
  }
}
