/// A code that fits a container.
public struct CodeMatch: Hashable, Sendable {
  /// The container whose code it is.
  public var container: String
  /// The code's counter.
  public var counter: Int64

  /// Describes a match.
  public init(container: String, counter: Int64) { (self.container, self.counter) = (container, counter) }
}

/// How a code check ended.
public enum CodeOutcome: Hashable, Sendable {
  /// The code is good, and used now.
  case accepted
  /// The code was used before, or a later one was.
  case replayed
  /// No code fits.
  case wrong
  /// Too many codes failed in a row.
  case locked
}
