package import SignetServer
import Synchronization

/// Records the lines of an ``EventLog``, so that a test can search them for forbidden content.
package final class EventCapture: Sendable {
  private let captured = Mutex<[String]>([])

  /// Creates an empty capture.
  package init() {}

  /// The log whose lines are recorded.
  package var log: EventLog { EventLog { [self] line in captured.withLock { $0.append(line) } } }

  /// The recorded lines.
  package var lines: [String] { captured.withLock { $0 } }
}
