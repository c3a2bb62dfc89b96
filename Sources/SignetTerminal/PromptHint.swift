import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A line below a prompt that changes while the user types.
///
/// It is drawn only on a terminal that can move its cursor. It gets the typed bytes and must never show them.
package final class PromptHint: Sendable {
  private let describe: @Sendable (RawSpan) -> String
  private let pipe = Mutex<WakePipe?>(nil)

  /// True if the terminal can move its cursor (`TERM`), so that hints are shown.
  package static var isShown: Bool {
    !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM", default: ""])
  }

  /// Creates a hint that depends on the typed bytes.
  ///
  /// - Parameter describe: Returns the line for the bytes typed so far. It is called at each key, on a thread that may
  ///   compute for a moment.
  package init(_ describe: @escaping @Sendable (RawSpan) -> String) { self.describe = describe }

  /// Redraws the line after a change of something other than the typed bytes.
  package func refresh() { pipe.withLock { $0?.send(WakePipe.redraw) } }

  /// Lets ``refresh()`` wake a prompt while `body` runs.
  func attached<R>(
    to wake: WakePipe, _ body: () throws(SecretInputFailure) -> R
  ) throws(SecretInputFailure) -> R {
    pipe.withLock { $0 = wake }
    defer { pipe.withLock { $0 = nil } }
    return try body()
  }

  /// The line for the bytes typed so far: sanitised, and short enough not to wrap.
  func line(for buffer: LineBuffer, width: Int) -> String {
    TerminalText.clipped(TerminalText.sanitised(buffer.withBytes(describe), limit: 500), width: width - 1)
  }
}
