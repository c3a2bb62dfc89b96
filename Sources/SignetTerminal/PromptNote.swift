import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A line under a prompt that changes while somebody types.
///
/// It is drawn on a terminal that can move its cursor, and left out elsewhere. What is typed is lent to it and never shown.
public final class PromptNote: Sendable {
  private let describe: @Sendable (RawSpan) -> String
  private let pipe = Mutex<WakePipe?>(nil)

  /// Whether the terminal can move its cursor (`TERM`), so that notes are shown.
  public static var isShown: Bool {
    !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM", default: ""])
  }

  /// A note that depends on what is typed.
  ///
  /// - Parameter describe: Is lent what is typed so far, at each key, on a thread that may compute for a moment; gives the line.
  public init(_ describe: @escaping @Sendable (RawSpan) -> String) { self.describe = describe }

  /// Has the line drawn anew, because something else than what is typed has changed.
  public func refresh() { pipe.withLock { $0?.send(WakePipe.redraw) } }

  /// Has ``refresh()`` wake a prompt, as long as `body` runs.
  func attached<R>(
    to wake: WakePipe, _ body: () throws(SecretInputFailure) -> R
  ) throws(SecretInputFailure) -> R {
    pipe.withLock { $0 = wake }
    defer { pipe.withLock { $0 = nil } }
    return try body()
  }

  /// The line for what is typed so far: sanitised, and short enough not to wrap.
  func line(for buffer: LineBuffer, width: Int) -> String {
    TerminalText.clipped(TerminalText.sanitised(buffer.withBytes(describe), limit: 500), width: width - 1)
  }
}
