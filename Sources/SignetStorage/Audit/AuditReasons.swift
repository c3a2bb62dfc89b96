// The reasons of rejections in the audit log: closed lists, whose texts `docs/audit-events.md` shows.

extension AuditEvent {
  /// The reason for the suspension or lock of an authenticator whose row MAC does not verify.
  static let alteredReason = "its row was not written by this server"

  /// The reason for the rejection of a one-time password.
  package enum CodeRefusal: String, Hashable, Sendable, CaseIterable {
    /// The address has to wait after wrong codes.
    case waiting = "not checked: the address must wait"
    /// Every credential is locked.
    case locked = "not checked: too many wrong codes in a row; unlock the user, or resynchronise"
    /// The user is suspended or deleted.
    case userNotActive = "not checked: the user is suspended or deleted"
    /// There is no such user.
    case unknownUser = "unknown user"
    /// The code is right, and was used before.
    case replayed = "replayed code: this code or a later one was already used"
    /// The code is wrong, or there is no credential.
    case wrongCode = "wrong or expired code, or no active credential"
    /// The first code of a token is wrong, or there is no such token.
    case wrongTokenCode = "wrong or expired code, or no token to verify"
    /// Two codes do not follow each other, or there is no credential.
    case wrongPair = "wrong or not consecutive codes, or no active credential"
  }

  /// The reason for the rejection of a user code.
  package enum UserCodeRefusal: String, Hashable, Sendable, CaseIterable {
    /// The code is wrong.
    case wrong = "wrong user code"
    /// The client has to wait after wrong codes.
    case waiting = "not checked: the client must wait"
    /// The client is locked for this user.
    case locked = "not checked: too many wrong codes in a row from this client; unlock the user"
  }

  /// The source of a one-time password.
  package enum CodeSource: Hashable, Sendable {
    /// A container.
    case container(ContainerID)
    /// A token, by its serial number.
    case token(String)

    var container: ContainerID? { if case .container(let id) = self { id } else { nil } }
    var token: String? { if case .token(let serial) = self { serial } else { nil } }
  }

  /// The kind of digits that a user typed as an answer.
  package enum AnswerKind: String, Hashable, Sendable, CaseIterable {
    /// The device scanned the transaction; `wrong offline answer` if it was refused.
    case offline = "offline answer"
    /// The user typed the transaction's values into the device; `wrong typed answer` if it was refused.
    case typed = "typed answer"
  }

  /// The reason for the rejection of an activation.
  package enum ActivationRefusal: Hashable, Sendable {
    /// The proof is wrong; the event has the number of remaining attempts.
    case wrongProof(remaining: Int)
    /// A key belongs to another authenticator.
    case keyTaken
    /// The operator does not accept the device's keystore.
    case keystore(String)

    var text: String {
      switch self {
      case .wrongProof: "wrong proof"
      case .keyTaken: "a key belongs to another authenticator"
      case .keystore(let kind): "unsupported device: keystore \(kind)"
      }
    }

    var remaining: Int? { if case .wrongProof(let count) = self { count } else { nil } }
  }

  /// The reason for the rejection of a renewal.
  package enum RenewalRefusal: Hashable, Sendable {
    /// The container's keys did not prove it.
    case notSigned
    /// A key belongs to another authenticator.
    case keyTaken
    /// The container is locked after too many wrong signatures or codes.
    case locked
    /// The container is not active any more.
    case gone
    /// The operator does not accept the device's keystore.
    case keystore(String)

    var text: String {
      switch self {
      case .notSigned: "not proved by the container's keys"
      case .keyTaken: "a key belongs to another authenticator"
      case .locked: "too many wrong signatures or codes in a row; unlock the user"
      case .gone: "the container is no longer active"
      case .keystore(let kind): "unsupported device: keystore \(kind)"
      }
    }
  }

  /// A verified UAF authentication.
  package struct UAFAnswer: Hashable, Sendable {
    /// The operation.
    package var session: ID<UAFOperationRecord>
    /// The user of the keys.
    package var user: UserID
    /// The keys, as JSON.
    package var keys: String
    /// The transaction that was confirmed; `nil` for none.
    package var transaction: TransactionID?
    /// The models whose metadata describes a newer version.
    package var outdated: [String]

    /// Describes an authentication.
    package init(
      session: ID<UAFOperationRecord>, user: UserID, keys: String, transaction: TransactionID?,
      outdated: [String]
    ) {
      self.session = session
      self.user = user
      self.keys = keys
      self.transaction = transaction
      self.outdated = outdated
    }
  }
}

extension AdmissionOutcome {
  /// The reason why a transaction was not added; `nil` if it was added, or if nothing is written.
  var reason: String? {
    switch self {
    case .added, .keyRevoked, .clientRevoked: nil
    case .tooManyPending: "the user has too many pending requests"
    case .coolingDown: "too many requests in a row were not accepted"
    case .noAuthenticator: "the user has no authenticator that could answer"
    case .transactionEnded: "the transaction has already ended"
    }
  }
}

extension DecisionOutcome {
  /// The reason for a rejection; `nil` for no rejection, or if nothing is written.
  var reason: String? {
    switch self {
    case .decided, .repeated, .keyRevoked, .signerChanged, .replayed: nil
    case .decidedBefore: "already decided"
    case .cancelled: "already cancelled or withdrawn"
    case .expired: "expired"
    case .unknown: "unknown"
    case .notSigned: "not signed by the container's key"
    case .locked: "too many wrong signatures in a row; unlock the user"
    case .waiting: "not checked: the address must wait"
    case .tooMany: "too many transactions were initiated on devices"
    case .wrongNumber(let remaining): "wrong number, \(remaining) tries left"
    case .containerLocked: "the container is locked"
    case .mismatch(let reason), .reportDue(let reason): reason
    }
  }

  /// Returns the reason why digits that answer a transaction were rejected.
  func reason(ofAnswer kind: AuditEvent.AnswerKind) -> String? {
    switch self {
    case .notSigned: "wrong \(kind.rawValue)"
    case .locked: "too many wrong codes in a row; unlock the user"
    default: reason
    }
  }
}
