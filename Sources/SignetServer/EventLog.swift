#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
public import SignetWire

/// `write` of the C library, which the log's own property hides.
private let systemWrite = write

/// The server's log: one JSON object a line, never a secret.
public struct EventLog: Sendable {
  private let write: @Sendable (String) -> Void
  private let clock: any WallClock

  /// A log that hands each line, without a newline, to `write`.
  public init(clock: any WallClock = SystemWallClock(), write: @escaping @Sendable (String) -> Void) {
    self.clock = clock
    self.write = write
  }

  /// A log on standard error, where service managers collect it.
  public static let standardError = EventLog { line in
    // One call a line, so that lines of several tasks do not mix. A log that can't be written stops nothing.
    _ = Array((line + "\n").utf8).withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// Something that happens in good order.
  public func info(_ event: String, _ members: KeyValuePairs<String, String> = [:]) {
    line("info", event, members)
  }

  /// Something that an operator should look at.
  public func error(_ event: String, _ members: KeyValuePairs<String, String> = [:]) {
    line("error", event, members)
  }

  private func line(_ level: String, _ event: String, _ members: KeyValuePairs<String, String>) {
    var line = JSONLine()
    line.add("time", clock.now)
    line.add("level", level)
    line.add("event", event)
    for (name, value) in members { line.add(name, value) }
    write(line.text)
  }
}
