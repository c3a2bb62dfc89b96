/// What kept a guard from looking.
public struct GuardFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, in a sentence without a full stop.
  public let description: String

  /// A failure.
  public init(_ description: String) { self.description = description }
}
