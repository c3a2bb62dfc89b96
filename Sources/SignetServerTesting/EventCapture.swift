public import SignetServer
import Synchronization

/// Records the lines of an ``EventLog``, so that a test can search them for forbidden content.
public final class EventCapture: Sendable {
  private let captured = Mutex<[String]>([])

  /// Creates an empty capture.
  public init() {}

  /// The log whose lines are recorded.
  public var log: EventLog { EventLog { [self] line in captured.withLock { $0.append(line) } } }

  /// The recorded lines.
  public var lines: [String] { captured.withLock { $0 } }
}
