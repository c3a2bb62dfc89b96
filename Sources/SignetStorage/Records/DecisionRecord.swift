/// A decision: signed, or answered by the digits of a device without a network.
public struct DecisionRecord: Hashable, Sendable {
  /// What was decided; `accepted`, `denied` or `reported`.
  public var state: TransactionRecord.State
  /// The JWS; `nil` where digits were typed.
  public var jws: String?
  /// With which container.
  public var container: ContainerID
  /// When the server took it, in seconds since 1970.
  public var time: Int64
  /// Whether the device saw nothing but what its user typed.
  public var isTyped: Bool
  /// When the last report of the device had come by then, in seconds since 1970; `nil` for none, and where nothing is required
  /// by name.
  public var lastReport: Int64?

  /// Describes a decision.
  public init(
    state: TransactionRecord.State, jws: String?, container: ContainerID, time: Int64, isTyped: Bool = false,
    lastReport: Int64? = nil
  ) {
    (self.state, self.jws, self.container, self.time) = (state, jws, container, time)
    (self.isTyped, self.lastReport) = (isTyped, lastReport)
  }
}

/// Who signed a request, as the caller knows it: what the request's signatures were checked with.
public struct SignerRecord: Hashable, Sendable {
  /// The container.
  public let container: ContainerID
  /// Whose it is.
  public let user: UserID
  /// Its device, 16 bytes.
  public let device: [UInt8]
  /// The key that signs its requests, an uncompressed point of 65 bytes.
  public let sessionKey: [UInt8]
  /// The key that signs its decisions, an uncompressed point of 65 bytes.
  public let signingKey: [UInt8]

  /// The signer that a container is.
  public init(_ container: ContainerRecord) {
    (self.container, user, device) = (container.id, container.user, container.device)
    (sessionKey, signingKey) = (container.sessionKey, container.signingKey)
  }
}

/// A signed request that brings a decision.
public struct DecisionAttempt: Hashable, Sendable {
  /// The transaction.
  public var transaction: TransactionID
  /// Who signed the request.
  public var signer: SignerRecord
  /// The request's id, which is used up with the decision; 16 bytes.
  public var request: [UInt8]
  /// When the id may be forgotten, because the request is too old by then.
  public var expires: Int64

  /// Describes an attempt.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - signer: Who signed the request.
  ///   - request: The request's id.
  ///   - expires: When the id may be forgotten.
  public init(transaction: TransactionID, by signer: SignerRecord, request: [UInt8], expires: Int64) {
    (self.transaction, self.signer) = (transaction, signer)
    (self.request, self.expires) = (request, expires)
  }
}

/// What is to be done with a decision, when its transaction was looked at.
public enum DecisionVerdict: Hashable, Sendable {
  /// Nothing: it is not about this transaction, for this reason.
  case mismatch(reason: String)
  /// Nothing: the device has to report first, for this reason.
  case reportDue(reason: String)
  /// To take it, where the container's key signed it, and the number is right or none is needed.
  case take(DecisionRecord, isSigned: Bool, hasRightNumber: Bool)
}

/// Digits that were carried from a device, and who typed them.
public struct AnswerAttempt: Hashable, Sendable {
  /// Whose digits they are; `nil` where they are nobody's.
  public var container: ContainerID?
  /// Whether they answer what a user typed, and not what the device showed.
  public var isTyped: Bool
  /// The keyed digest of the end user's address, whose wrong answers make it wait; `nil` for an operator, who never waits.
  public var client: [UInt8]?
  /// The API key of who carries them; `nil` for none.
  public var key: ID<APIKeyRecord>?
  /// When.
  public var time: Int64

  /// Describes an attempt.
  ///
  /// - Parameters:
  ///   - container: Whose digits they are.
  ///   - isTyped: Whether they answer what a user typed.
  ///   - client: The keyed digest of the end user's address.
  ///   - key: The API key.
  ///   - time: When.
  public init(
    container: ContainerID?, isTyped: Bool = false, client: [UInt8]? = nil, key: ID<APIKeyRecord>? = nil,
    time: Int64
  ) {
    (self.container, self.isTyped) = (container, isTyped)
    (self.client, self.key, self.time) = (client, key, time)
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
  /// Nothing was looked at: the address that typed digits waits for so many seconds more.
  case waiting(seconds: Int64)
  /// Too many, or too much, was signed unasked; there is room in so many seconds.
  case tooMany(seconds: Int64)
  /// Nothing was looked at: the API key is not good any more.
  case keyRevoked
  /// Nothing was looked at: the signer is not what the caller took it for, or not active any more.
  case signerChanged
  /// Nothing was looked at: the request was made before.
  case replayed
  /// The server has locked the container, which can deny and no more.
  case containerLocked
  /// The decision does not fit the transaction, or cannot meet its requirements, for this reason.
  case mismatch(reason: String)
  /// The device has to report before an approval of its is taken, for this reason.
  case reportDue(reason: String)
}
