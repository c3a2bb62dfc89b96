/// A decision: signed, or answered by the digits of a device without a network.
public struct DecisionRecord: Hashable, Sendable {
  /// What was decided; `accepted`, `denied` or `reported`.
  public var state: TransactionRecord.State
  /// The JWS; `nil` where digits were typed.
  public var jws: String?
  /// With which container.
  public var container: String
  /// When the server took it.
  public var time: Int64

  /// Describes a decision.
  public init(state: TransactionRecord.State, jws: String?, container: String, time: Int64) {
    (self.state, self.jws, self.container, self.time) = (state, jws, container, time)
  }
}

/// How a decision, or another end of a transaction, ended.
public enum DecisionOutcome: Hashable, Sendable {
  /// It stands.
  case decided
  /// It has ended so already, by the same hand.
  case repeated
  /// Another decision came first.
  case decidedBefore
  /// The user has cancelled it, or the relying party has withdrawn it.
  case cancelled
  /// The transaction has expired.
  case expired
  /// There is no such transaction for this container.
  case unknown
  /// The container's key did not sign it.
  case notSigned
  /// The container sent too many wrong signatures in a row.
  case locked
  /// The number is not the one that the relying party shows; with no try left the transaction is denied.
  case wrongNumber(remaining: Int)
  /// Nothing was looked at: the API key is not good any more.
  case keyRevoked
}
