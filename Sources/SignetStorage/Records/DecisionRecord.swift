/// A decision as signed.
public struct DecisionRecord: Hashable, Sendable {
  /// What was decided; `accepted` or `denied`.
  public var state: TransactionRecord.State
  /// The JWS.
  public var jws: String
  /// With which container.
  public var container: String
  /// When the server took it.
  public var time: Int64

  /// Describes a decision.
  public init(state: TransactionRecord.State, jws: String, container: String, time: Int64) {
    (self.state, self.jws, self.container, self.time) = (state, jws, container, time)
  }
}

/// How a decision ended.
public enum DecisionOutcome: Hashable, Sendable {
  /// The decision stands.
  case decided
  /// This container has decided so already.
  case repeated
  /// Another decision came first.
  case decidedBefore
  /// The transaction has expired.
  case expired
  /// There is no such transaction for this container.
  case unknown
  /// The container's key did not sign it.
  case notSigned
  /// The container sent too many wrong signatures in a row.
  case locked
}
