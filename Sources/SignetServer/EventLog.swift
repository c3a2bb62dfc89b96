#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import SignetJSON
import SignetProtocol
package import SignetSystem

/// The `write` function of the C library, which the log's own property would hide.
private let systemWrite = write

/// The server's log: one JSON object a line, without secrets.
///
/// Unauthenticated callers can cause any number of lines about requests that failed or that need no authentication. Of
/// these, every 10 seconds the log has the first of each kind and from each network, and others up to a total of 100. A line
/// `log.leftOut` states how many lines of a kind were left out, and which networks caused most of them.
package struct EventLog: Sendable {
  /// The further members of a line: names, and values as their descriptions.
  package typealias Members = KeyValuePairs<String, any CustomStringConvertible>

  private let write: @Sendable (String) -> Void
  private let clock: any WallClock
  private let sample = LineSample()

  /// Creates a log that passes each line, without a newline, to `write`.
  package init(clock: any WallClock = SystemWallClock(), write: @escaping @Sendable (String) -> Void) {
    self.clock = clock
    self.write = write
  }

  /// A log on standard error, where service managers collect it.
  package static let standardError = EventLog { line in
    // One call for each line, so that lines of several tasks do not mix. A failure to write is ignored.
    _ = Array((line + "\n").utf8).withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// Logs a normal event.
  package func info(_ event: String, _ members: Members = [:]) {
    line("info", event, members)
  }

  /// Logs an event that needs an operator's attention.
  package func error(_ event: String, _ members: Members = [:]) {
    line("error", event, members)
  }

  /// Logs an event that an unauthenticated caller can cause: writes the line, or counts it as left out.
  ///
  /// Lines of one kind have the same event, the same member `status` and the same subject. The member `from` is the address
  /// that caused the line.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - subject: The subject, from a small set that callers cannot extend.
  ///   - members: The further members of the line.
  package func sampled(
    _ event: String, of subject: String = "", _ members: Members = [:]
  ) {
    sampled("info", event, of: subject, members)
  }

  /// Logs an event that needs attention and that any request may cause: writes the line, or counts it as left out.
  ///
  /// Lines of the same event are of one kind.
  package func sampledError(_ event: String, _ members: Members = [:]) {
    sampled("error", event, of: "", members)
  }

  private func sampled(
    _ level: String, _ event: String, of subject: String, _ members: Members
  ) {
    let now = clock.now
    let status = members.first { $0.key == "status" }?.value.description ?? ""
    let network =
      members.first { $0.key == "from" }.map { RateLimitKey.networkName(of: $0.value.description) } ?? ""
    let (isWritten, ended) = sample.record(
      LineSample.Kind(event: event, status: status, subject: subject), from: network, at: now)
    writeLeftOut(ended)
    if isWritten { line(level, event, members, at: now) }
  }

  /// Logs the number of lines left out in a span that has ended; at the end, also in the present one.
  func writeLeftOut(isEnd: Bool = false) { writeLeftOut(sample.leftOut(at: clock.now, isEnd: isEnd)) }

  private func writeLeftOut(_ counts: [LineSample.Count]) {
    for count in counts {
      var members: [(key: String, value: any CustomStringConvertible)] = [("of", count.kind.event)]
      if !count.kind.subject.isEmpty { members.append(("subject", count.kind.subject)) }
      if !count.kind.status.isEmpty { members.append(("status", count.kind.status)) }
      members += [
        ("count", String(count.number)), ("from", String(count.start)),
        ("seconds", String(LineSample.seconds)),
      ]
      if !count.networks.isEmpty {
        members.append(("most", count.networks.map { "\($0.name) \($0.number)" }.joined(separator: ", ")))
      }
      line("info", "log.leftOut", members, at: clock.now)
    }
  }

  private func line(_ level: String, _ event: String, _ members: Members) {
    line(level, event, members, at: clock.now)
  }

  private func line(
    _ level: String, _ event: String,
    _ members: some Sequence<(key: String, value: any CustomStringConvertible)>, at time: Int64
  ) {
    var line = JSONLine()
    line.add("time", time)
    line.add("level", level)
    line.add("event", event)
    for (name, value) in members { line.add(name, value.description) }
    write(line.text)
  }
}
