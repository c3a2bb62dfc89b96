#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import SignetJSON
public import SignetWire

/// `write` of the C library, which the log's own property hides.
private let systemWrite = write

/// The server's log: one JSON object a line, never a secret.
///
/// Lines about requests that were refused or failed, or that need no authentication, are ones that strangers can cause, as many as
/// they like. Of these, the first of each kind and from each network in each 10 seconds is written, and others while there are fewer than
/// 100; how many of a kind were left out, and most of them from where, says a line `log.leftOut`.
public struct EventLog: Sendable {
  /// What a line says besides what happened: names, and values as their descriptions.
  public typealias Members = KeyValuePairs<String, any CustomStringConvertible>

  private let write: @Sendable (String) -> Void
  private let clock: any WallClock
  private let sample = LineSample()

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
  public func info(_ event: String, _ members: Members = [:]) {
    line("info", event, members)
  }

  /// Something that an operator should look at.
  public func error(_ event: String, _ members: Members = [:]) {
    line("error", event, members)
  }

  /// Something that a stranger can cause: a line, or one more of those that are left out.
  ///
  /// Lines of the same event, the same `status` among the members and the same subject are of one kind; `from` among the members is
  /// the address that caused it.
  ///
  /// - Parameters:
  ///   - event: What happened.
  ///   - subject: What it is about; there are few of them, whatever strangers send.
  ///   - members: What the line says besides.
  public func sampled(
    _ event: String, of subject: String = "", _ members: Members = [:]
  ) {
    sampled("info", event, of: subject, members)
  }

  /// Something that an operator should look at, and that each request of a stranger may meet again: a line, or one more of those that
  /// are left out.
  ///
  /// Lines of the same event are of one kind.
  public func sampledError(_ event: String, _ members: Members = [:]) {
    sampled("error", event, of: "", members)
  }

  private func sampled(
    _ level: String, _ event: String, of subject: String, _ members: Members
  ) {
    let now = clock.now
    let status = members.first { $0.key == "status" }?.value.description ?? ""
    let network =
      members.first { $0.key == "from" }.map { RateLimitKey.networkName(of: $0.value.description) } ?? ""
    let (isWritten, over) = sample.take(
      LineSample.Kind(event: event, status: status, subject: subject), from: network, at: now)
    writeLeftOut(over)
    if isWritten { line(level, event, members, at: now) }
  }

  /// Says how many lines were left out in a time that is over by now; at the end, in the present one too.
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
