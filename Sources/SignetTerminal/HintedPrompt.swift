#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A prompt with a hint below it, which is redrawn at each key.
struct HintedPrompt {
  private let number: Int32
  private let hint: PromptHint
  /// The cursor's column, after the prompt.
  private let column: Int
  private let width: Int

  /// - Returns: `nil` if the terminal cannot move its cursor.
  init?(_ prompt: String, _ hint: PromptHint, on number: Int32) {
    guard PromptHint.isShown else { return nil }
    (self.number, self.hint) = (number, hint)
    width = windowWidth(number) ?? 80
    let row = prompt.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    column = TerminalText.width(String(row)) % width + 1
  }

  /// Writes the hint, and moves the cursor back to the prompt.
  func draw(_ buffer: LineBuffer) {
    let line = hint.line(for: buffer, width: width)
    // ECMA-48: erase in line, cursor up, cursor character absolute.
    _ = writeAll("\n\u{1B}[K\(line)\u{1B}[A\u{1B}[\(column)G", to: number)
  }

  /// Erases the hint; the cursor is at the start of its line.
  func erase() { _ = writeAll("\r\u{1B}[K", to: number) }

  /// Reads keys up to the end of a line, and handles the editing keys that the terminal handles for a prompt without a hint.
  func readLine(
    into buffer: LineBuffer, _ keys: EditingKeys, _ pipes: [WakePipe]
  ) throws(SecretInputFailure) -> LineReader.Ending {
    var excessByteCount = 0
    var byte: UInt8 = 0
    defer { byte = 0 }
    draw(buffer)
    while true {
      if let message = try WakePipe.wait(for: number, or: pipes) {
        switch message {
        case WakePipe.cancelled: throw .cancelled
        case WakePipe.redraw:
          draw(buffer)
          continue
        default: return .signal(Int32(message))
        }
      }
      let count = unsafe read(number, &byte, 1)
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw .unreadable(code: errno)
      }
      if count == 0 { return .end }
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        guard excessByteCount == 0 else { throw .tooLong(maximumByteCount: buffer.capacity) }
        return .newline
      case keys.end: if buffer.count == 0 { return .end }
      case keys.erase, 0x08, 0x7F:
        if excessByteCount > 0 { excessByteCount -= 1 } else { buffer.removeLastCharacter() }
      case keys.kill, keys.eraseWord:
        excessByteCount = 0
        buffer.wipe()
      default: if !buffer.append(byte) { excessByteCount += 1 }
      }
      if !isMoreWaiting { draw(buffer) }
    }
  }

  /// True if more input is waiting, so that drawing now would be wasted.
  private var isMoreWaiting: Bool {
    var watched = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&watched, 1, 0) > 0
  }
}

/// The editing keys of the user's terminal settings (`stty`).
struct EditingKeys {
  let erase: UInt8
  let eraseWord: UInt8
  let kill: UInt8
  let end: UInt8

  init(_ settings: termios) {
    let keys = unsafe withUnsafeBytes(of: settings.c_cc) { unsafe Array($0) }
    erase = keys[Int(VERASE)]
    eraseWord = keys[Int(VWERASE)]
    kill = keys[Int(VKILL)]
    end = keys[Int(VEOF)]
  }
}
