import Synchronization

/// Which lines of a log that strangers can cause are written, and how many of the others there were.
final class LineSample: Sendable {
  /// How many lines are written in one span of time, besides the first of each kind.
  static let lineCount = 100
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
  struct Count: Equatable {
    let kind: Kind
    let number: Int
    let start: Int64
  }

  private struct Span {
    var start: Int64 = .min
    var written = 0
    /// How many lines of a kind were left out; 0 for one of which all were written.
    ///
    /// There are as many kinds as there are endpoints
    /// and statuses, some hundreds.
    var leftOut: [Kind: Int] = [:]
  }

  private let span = Mutex(Span())

  /// Counts a line.
  ///
  /// - Returns: Whether it is written, and what was left out in the span before, where that one is over.
  func take(_ kind: Kind, at time: Int64) -> (isWritten: Bool, over: [Count]) {
    span.withLock { span in
      let over = Self.close(&span, at: time)
      let leftOut = span.leftOut[kind]
      let isWritten = leftOut == nil || span.written < Self.lineCount
      if isWritten { span.written += 1 }
      span.leftOut[kind] = (leftOut ?? 0) + (isWritten ? 0 : 1)
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
    return span.leftOut.filter { $0.value > 0 }.map {
      Count(kind: $0.key, number: $0.value, start: span.start)
    }
    .sorted {
      ($0.kind.event, $0.kind.subject, $0.kind.status) < ($1.kind.event, $1.kind.subject, $1.kind.status)
    }
  }
}
