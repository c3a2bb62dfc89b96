/// A decision: signed, or given by the digits of a device without a network connection.
package struct DecisionRecord: Hashable, Sendable {
  /// The decision: `accepted`, `denied` or `reported`.
  package var state: TransactionRecord.State
  /// The JWS; `nil` if digits were typed.
  package var jws: String?
  /// The container that decided.
  package var container: ContainerID
  /// When the server accepted it, in seconds since 1970.
  package var time: Int64
  /// Indicates whether the device saw only the fields that its user typed.
  package var isTyped: Bool
  /// When the last report of the device before it arrived, in seconds since 1970; `nil` for none, and if no named requirement applies.
  package var lastReport: Int64?

  /// Describes a decision.
  package init(
    state: TransactionRecord.State, jws: String?, container: ContainerID, time: Int64, isTyped: Bool = false,
    lastReport: Int64? = nil
  ) {
    self.state = state
    self.jws = jws
    self.container = container
    self.time = time
    self.isTyped = isTyped
    self.lastReport = lastReport
  }
}

/// The signer of a request, with the keys that the caller used to verify the request's signatures.
package struct SignerRecord: Hashable, Sendable {
  /// The container.
  package let container: ContainerID
  /// The user of the container.
  package let user: UserID
  /// The installation id of its device, 16 bytes.
  package let device: [UInt8]
  /// The key that signs its requests, an uncompressed point of 65 bytes.
  package let sessionKey: [UInt8]
  /// The key that signs its decisions, an uncompressed point of 65 bytes.
  package let signingKey: [UInt8]

  /// Makes the signer from a container.
  package init(_ container: ContainerRecord) {
    self.container = container.id
    user = container.user
    device = container.device
    sessionKey = container.sessionKey
    signingKey = container.signingKey
  }
}

/// A signed request with a decision.
package struct DecisionAttempt: Hashable, Sendable {
  /// The transaction.
  package var transaction: TransactionID
  /// The signer of the request.
  package var signer: SignerRecord
  /// The request's id, which the decision uses up; 16 bytes.
  package var request: [UInt8]
  /// The time from which the id may be removed, because the request is too old by then.
  package var expires: Int64

  /// Describes an attempt.
  package init(transaction: TransactionID, by signer: SignerRecord, request: [UInt8], expires: Int64) {
    self.transaction = transaction
    self.signer = signer
    self.request = request
    self.expires = expires
  }
}

/// The verdict on a decision after a comparison with its transaction.
package enum DecisionVerdict: Hashable, Sendable {
  /// Reject it: it does not fit the transaction, for this reason.
  case mismatch(reason: String)
  /// Reject it: the device has to report first, for this reason.
  case reportDue(reason: String)
  /// Accept it, if the container's key signed it, and the number is right or none is needed.
  case accept(DecisionRecord, isSigned: Bool, hasRightNumber: Bool)
}

/// Digits that a user carried from a device to a relying party.
package struct AnswerAttempt: Hashable, Sendable {
  /// The container that made the digits; `nil` for none.
  package var container: ContainerID?
  /// Indicates whether the device made them from fields that the user typed, not from a transaction that it displayed.
  package var isTyped: Bool
  /// The keyed digest of the end user's address, for which wrong answers cause a waiting time; `nil` for an operator, who never waits.
  package var client: [UInt8]?
  /// The API key of the relying party that sends them; `nil` for none.
  package var key: ID<APIKeyRecord>?
  /// The time of the attempt, in seconds since 1970.
  package var time: Int64

  /// Describes an attempt.
  package init(
    container: ContainerID?, isTyped: Bool = false, client: [UInt8]? = nil, key: ID<APIKeyRecord>? = nil,
    time: Int64
  ) {
    self.container = container
    self.isTyped = isTyped
    self.client = client
    self.key = key
    self.time = time
  }
}

/// The outcome of a decision, or of another end of a transaction.
package enum DecisionOutcome: Hashable, Sendable {
  /// The transaction is decided.
  case decided
  /// The same actor has ended it in the same way before.
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
  /// The container sent too many consecutive wrong signatures.
  case locked
  /// The number differs from the one that the relying party displays; with no try left the transaction is denied.
  case wrongNumber(remaining: Int)
  /// Not evaluated: the address that sent digits has to wait for this many seconds.
  case waiting(seconds: Int64)
  /// Too many transactions, or too many bytes, were initiated by devices; there is room in this many seconds.
  case tooMany(seconds: Int64)
  /// Not evaluated: the API key is revoked.
  case keyRevoked
  /// Not evaluated: the container is no longer active, or has other keys than those that the caller used.
  case signerChanged
  /// Not evaluated: the request is a replay.
  case replayed
  /// The server has locked the container, which can only deny.
  case containerLocked
  /// The decision does not fit the transaction, or cannot meet its requirements, for this reason.
  case mismatch(reason: String)
  /// The device has to report before its approval is accepted, for this reason.
  case reportDue(reason: String)
}
