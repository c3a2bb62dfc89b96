import Synchronization

/// Which lines of a log that strangers can cause are written, and how many of the others there were.
final class LineSample: Sendable {
  /// How many lines are written in one span of time, besides the first of each kind and from each network.
  static let lineCount = 100
  /// Of how many kinds and networks the first line is written in a span, and the others are counted apart.
  ///
  /// A flood from one network hides nobody else; one from more networks than these can.
  static let sourceCount = 256
  /// How many networks a count names.
  static let namedCount = 3
  /// How long a span is, in seconds; it begins at a multiple of it.
  static let seconds: Int64 = 10

  /// What lines have in common that are counted together.
  struct Kind: Hashable {
    let event: String
    /// The status of the answer; empty where the event has none.
    let status: String
    /// What it is about, such as the method and the pattern of an endpoint.
    let subject: String
  }

  /// How many lines of a kind were left out in the span that began at a time, in seconds since 1970.
  struct Count {
    let kind: Kind
    let number: Int
    /// The networks with the most of them, as far as they were counted, the largest first.
    let networks: [(name: String, number: Int)]
    let start: Int64
  }

  /// Where lines of a kind come from.
  private struct Source: Hashable {
    let kind: Kind
    let network: String
  }

  private struct Span {
    var start: Int64 = .min
    var written = 0
    /// How many lines of a kind were left out; 0 for one of which all were written.
    ///
    /// There are as many kinds as there are endpoints
    /// and statuses, some hundreds.
    var leftOut: [Kind: Int] = [:]
    /// The same for each of the first kinds and networks.
    var sources: [Source: Int] = [:]
  }

  private let span = Mutex(Span())

  /// Counts a line.
  ///
  /// - Parameters:
  ///   - kind: What it has in common with others.
  ///   - network: Who caused it, as ``RateLimitKey/networkName(of:)`` says; empty where the line does not tell.
  ///   - time: Seconds since 1970.
  /// - Returns: Whether it is written, and what was left out in the span before, where that one is over.
  func take(_ kind: Kind, from network: String, at time: Int64) -> (isWritten: Bool, over: [Count]) {
    span.withLock { span in
      let over = Self.close(&span, at: time)
      let source = Source(kind: kind, network: network)
      let (leftOut, leftOutOfSource) = (span.leftOut[kind], span.sources[source])
      let isNewSource = leftOutOfSource == nil && span.sources.count < Self.sourceCount
      let isWritten = leftOut == nil || isNewSource || span.written < Self.lineCount
      if isWritten { span.written += 1 }
      let one = isWritten ? 0 : 1
      span.leftOut[kind] = (leftOut ?? 0) + one
      if isNewSource || leftOutOfSource != nil { span.sources[source] = (leftOutOfSource ?? 0) + one }
      return (isWritten, over)
    }
  }

  /// What was left out in a span that is over by now; at the end, in the present one as well.
  func leftOut(at time: Int64, isEnd: Bool) -> [Count] {
    span.withLock { span in Self.close(&span, at: isEnd ? nil : time) }
  }

  /// Begins another span, unless the time is in the present one; a clock that was set back begins another too.
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
