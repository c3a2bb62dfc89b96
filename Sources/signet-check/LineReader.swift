#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

enum InputLine {
  /// Its bytes, without the line feed.
  case bytes([UInt8])
  /// Longer than ``LineReader/limit``; its bytes were skipped.
  case tooLong
}

/// Reads lines as they arrive, without waiting for more than the next one.
///
/// `readLine()` would repair bytes that are not UTF-8 and accept lines of any length; test vectors must arrive unchanged.
struct LineReader {
  /// The maximum number of bytes in a line.
  static let limit = 1 << 20

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0
  private var isSkipping = false
  private var isAtEnd = false

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Returns the next line, or nil at the end; a last line without line feed counts.
  ///
  /// - Parameter beforeWaiting: Called before a blocking read.
  /// - Returns: The line.
  mutating func next(beforeWaiting: () -> Void) -> InputLine? {
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { (start, searched, isSkipping) = (end + 1, end + 1, false) }
        return isSkipping || end - start > Self.limit ? .tooLong : .bytes(Array(buffer[start..<end]))
      }
      if isAtEnd {
        defer { (start, searched, isSkipping) = (buffer.count, buffer.count, false) }
        if isSkipping || buffer.count - start > Self.limit { return .tooLong }
        return start < buffer.count ? .bytes(Array(buffer[start...])) : nil
      }
      buffer.removeFirst(start)
      start = 0
      if isSkipping || buffer.count > Self.limit {
        isSkipping = true
        buffer.removeAll(keepingCapacity: true)
      }
      searched = buffer.count
      beforeWaiting()
      fill()
    }
  }

  /// Appends the available input; an error counts as the end.
  private mutating func fill() {
    let count = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: 65_536))
    var received: Int
    repeat {
      received = buffer.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress?.advanced(by: count), 65_536)
      }
    } while received < 0 && errno == EINTR
    buffer.removeLast(65_536 - max(received, 0))
    isAtEnd = received <= 0
  }
}

/// Collects answers and writes them before the next blocking read.
struct AnswerWriter {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(descriptor: Int32) { self.descriptor = descriptor }

  mutating func append(_ line: [UInt8]) {
    buffer.append(contentsOf: line)
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count > 1 << 20 { _ = flush() }
  }

  /// Writes the collected answers; returns false if the reader has closed the pipe.
  mutating func flush() -> Bool {
    var written = 0
    while written < buffer.count {
      let count = buffer.withUnsafeBytes {
        write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    buffer.removeAll(keepingCapacity: true)
    return true
  }
}
