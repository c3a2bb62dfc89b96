import Synchronization

/// The choice which log lines of unauthenticated callers are written, and the count of the others.
final class LineSample: Sendable {
  /// The number of lines written in one span, in addition to the first of each kind and network.
  static let lineCount = 100
  /// The number of kinds and networks whose first line is written in a span, and whose other lines are counted separately.
  ///
  /// A flood from one network hides no other network; a flood from more networks than this can.
  static let sourceCount = 256
  /// The number of networks that a count names.
  static let namedCount = 3
  /// The length of a span, in seconds; it begins at a multiple of it.
  static let seconds: Int64 = 10

  /// The common properties of lines that are counted together.
  struct Kind: Hashable {
    let event: String
    /// The status of the answer; empty if the event has none.
    let status: String
    /// The subject, such as the method and pattern of an endpoint.
    let subject: String
  }

  /// The number of lines of a kind that were left out in the span beginning at `start`, in seconds since 1970.
  struct Count {
    let kind: Kind
    let number: Int
    /// The networks with the most such lines, as far as they were counted, the largest first.
    let networks: [(name: String, number: Int)]
    let start: Int64
  }

  /// A kind of lines from one network.
  private struct Source: Hashable {
    let kind: Kind
    let network: String
  }

  private struct Span {
    var start: Int64 = .min
    var written = 0
    /// The number of lines left out of each kind; 0 if all were written.
    ///
    /// The number of kinds is limited by the endpoints and statuses: some hundreds.
    var leftOut: [Kind: Int] = [:]
    /// The number of lines left out of each of the first kinds and networks.
    var sources: [Source: Int] = [:]
  }

  private let span = Mutex(Span())

  /// Counts a line.
  ///
  /// - Parameters:
  ///   - kind: The kind of the line.
  ///   - network: The network that caused it, by ``RateLimitKey/networkName(of:)``; empty if unknown.
  ///   - time: The time, in seconds since 1970.
  /// - Returns: True if the line is to be written, and the counts of the previous span if it has ended.
  func record(_ kind: Kind, from network: String, at time: Int64) -> (isWritten: Bool, ended: [Count]) {
    span.withLock { span in
      let ended = Self.close(&span, at: time)
      let source = Source(kind: kind, network: network)
      let (leftOut, leftOutOfSource) = (span.leftOut[kind], span.sources[source])
      let isNewSource = leftOutOfSource == nil && span.sources.count < Self.sourceCount
      let isWritten = leftOut == nil || isNewSource || span.written < Self.lineCount
      if isWritten { span.written += 1 }
      let one = isWritten ? 0 : 1
      span.leftOut[kind] = (leftOut ?? 0) + one
      if isNewSource || leftOutOfSource != nil { span.sources[source] = (leftOutOfSource ?? 0) + one }
      return (isWritten, ended)
    }
  }

  /// Returns the counts of a span that has ended; at the end, also those of the present one.
  func leftOut(at time: Int64, isEnd: Bool) -> [Count] {
    span.withLock { span in Self.close(&span, at: isEnd ? nil : time) }
  }

  /// Begins a new span unless the time is in the present one.
  ///
  /// A clock that was set back also begins a new span.
  private static func close(_ span: inout Span, at time: Int64?) -> [Count] {
    let start = time.map { $0 - $0 % seconds } ?? .min
    guard start != span.start else { return [] }
    defer { span = Span(start: start) }
    let sources = Dictionary(grouping: span.sources.filter { $0.value > 0 && !$0.key.network.isEmpty }) {
      $0.key.kind
    }
    return span.leftOut.filter { $0.value > 0 }.map { kind, number in
      let networks = (sources[kind] ?? []).map { (name: $0.key.network, number: $0.value) }
        .sorted { ($1.number, $0.name) < ($0.number, $1.name) }
      return Count(
        kind: kind, number: number, networks: Array(networks.prefix(namedCount)), start: span.start)
    }
    .sorted {
      ($0.kind.event, $0.kind.subject, $0.kind.status) < ($1.kind.event, $1.kind.subject, $1.kind.status)
    }
  }
}
