public import SignetServer
import Synchronization

/// Keeps the lines of an ``EventLog``, so that a test can look for what must not be in them.
public final class EventCapture: Sendable {
  private let kept = Mutex<[String]>([])

  /// Keeps nothing yet.
  public init() {}

  /// The log that is kept here.
  public var log: EventLog { EventLog { [self] line in kept.withLock { $0.append(line) } } }

  /// The lines so far.
  public var lines: [String] { kept.withLock { $0 } }
}
