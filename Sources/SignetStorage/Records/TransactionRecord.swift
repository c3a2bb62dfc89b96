/// A transaction and, once there is one, its decision.
public struct TransactionRecord: Hashable, Sendable {
  /// Where a transaction stands.
  public enum State: String, Hashable, Sendable {
    /// Waits for a decision, or has expired without being swept yet: compare `expires`.
    case pending
    /// The user accepted.
    case accepted
    /// The user denied.
    case denied
    /// Nobody decided in time.
    case expired
  }

  /// Names the transaction.
  public var id: String
  /// Who decides.
  public var user: String
  /// What is asked.
  public var text: String
  /// When it was made.
  public var created: Int64
  /// When it ends.
  public var expires: Int64
  /// Where it stands.
  public var state: State
  /// The decision; `nil` before.
  public var decision: DecisionRecord?

  /// Describes a transaction.
  public init(
    id: String, user: String, text: String, created: Int64, expires: Int64, state: State = .pending,
    decision: DecisionRecord? = nil
  ) {
    (self.id, self.user, self.text, self.created) = (id, user, text, created)
    (self.expires, self.state, self.decision) = (expires, state, decision)
  }

  /// Where the transaction stands at a time: a pending one past its end has expired.
  public func state(at time: Int64) -> State { state == .pending && expires <= time ? .expired : state }
}
