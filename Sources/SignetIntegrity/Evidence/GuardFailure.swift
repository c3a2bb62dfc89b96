/// The reason why a guard could not examine.
public struct GuardFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, in a sentence without a full stop.
  public let description: String

  /// Creates a failure.
  public init(_ description: String) { self.description = description }
}
