// Why something was refused, as the audit log says it: closed lists, of which `docs/audit-events.md` shows the texts.

extension AuditEvent {
  /// Why an authenticator is suspended, or locked, whose row somebody else has written.
  static let alteredReason = "its row was not written by this server"

  /// Why a one-time password was refused.
  public enum CodeRefusal: String, Hashable, Sendable, CaseIterable {
    /// The address waits after wrong codes.
    case waiting = "not tried: the address has to wait"
    /// Every credential is locked.
    case locked = "not tried: too many wrong codes in a row; unlock the user, or resynchronise"
    /// The user is suspended or deleted.
    case userNotActive = "not tried: the user is suspended or deleted"
    /// There is no such user.
    case unknownUser = "unknown user"
    /// The code is right, and was used before.
    case replayed = "this code, or a later one, was used before"
    /// The code is wrong, or there is no credential.
    case wrongCode = "nothing of the user makes this code now"
    /// The first code of a token is wrong, or there is no such token.
    case wrongTokenCode = "no token to be verified makes this code now"
    /// Two codes do not follow each other, or there is no credential.
    case wrongPair = "nothing of the user makes these two codes in a row"
  }

  /// Why a user's code, sent by a client, was refused.
  public enum UserCodeRefusal: String, Hashable, Sendable, CaseIterable {
    /// It is another code.
    case wrong = "not the user's code"
    /// The client waits after wrong codes.
    case waiting = "not tried: the client has to wait"
    /// The client is locked for this user.
    case locked = "not tried: too many wrong codes in a row by this client; unlock the user"
  }

  /// What made a one-time password.
  public enum CodeSource: Hashable, Sendable {
    /// A container.
    case container(ContainerID)
    /// A token, by its serial number.
    case token(String)

    var container: ContainerID? { if case .container(let id) = self { id } else { nil } }
    var token: String? { if case .token(let serial) = self { serial } else { nil } }
  }

  /// How digits were carried that a user typed as an answer.
  public enum AnswerKind: String, Hashable, Sendable, CaseIterable {
    /// The device scanned the transaction; `wrong offline answer` if it was refused.
    case offline = "offline answer"
    /// The user typed the transaction's values into the device; `wrong typed answer` if it was refused.
    case typed = "typed answer"
  }

  /// Why a device was not activated.
  public enum ActivationRefusal: Hashable, Sendable {
    /// The proof is wrong; so many more are tried.
    case wrongProof(remaining: Int)
    /// A key belongs to another authenticator.
    case keyTaken
    /// The operator does not accept what keeps the device's secrets.
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

  /// Why a container was not renewed.
  public enum RenewalRefusal: Hashable, Sendable {
    /// The container's keys did not prove it.
    case notSigned
    /// A key belongs to another authenticator.
    case keyTaken
    /// Signatures of the container are not looked at any more.
    case locked
    /// The container was revoked.
    case gone
    /// The operator does not accept what keeps the device's secrets.
    case keystore(String)

    var text: String {
      switch self {
      case .notSigned: "not proved by the container's keys"
      case .keyTaken: "a key belongs to another authenticator"
      case .locked: "too many wrong signatures or codes in a row; unlock the user"
      case .gone: "the container is not in use any more"
      case .keystore(let kind): "unsupported device: keystore \(kind)"
      }
    }
  }

  /// A UAF authentication that was verified.
  public struct UAFAnswer: Hashable, Sendable {
    /// The operation.
    public var session: ID<UAFOperationRecord>
    /// Whose keys they are.
    public var user: UserID
    /// The keys, as JSON.
    public var keys: String
    /// The transaction that was confirmed; `nil` for none.
    public var transaction: TransactionID?
    /// The models whose metadata describes a newer version.
    public var outdated: [String]

    /// Describes an authentication.
    public init(
      session: ID<UAFOperationRecord>, user: UserID, keys: String, transaction: TransactionID?,
      outdated: [String]
    ) {
      (self.session, self.user, self.keys) = (session, user, keys)
      (self.transaction, self.outdated) = (transaction, outdated)
    }
  }
}

extension AdmissionOutcome {
  /// Why a transaction was not made; `nil` where it was, or where nothing is written.
  var reason: String? {
    switch self {
    case .added, .keyRevoked, .clientRevoked: nil
    case .tooManyPending: "too many requests wait for the user"
    case .coolingDown: "too many requests in a row were not accepted"
    case .noAuthenticator: "the user has no authenticator that could answer"
    case .transactionOver: "the transaction has ended before"
    }
  }
}

extension DecisionOutcome {
  /// Why something about a transaction was refused; `nil` where it was not, or where nothing is written.
  var reason: String? {
    switch self {
    case .decided, .repeated, .keyRevoked, .signerChanged, .replayed: nil
    case .decidedBefore: "decided before"
    case .cancelled: "cancelled or withdrawn before"
    case .expired: "expired"
    case .unknown: "unknown"
    case .notSigned: "not signed by the container's key"
    case .locked: "too many wrong signatures in a row; unlock the user"
    case .waiting: "not tried: the address has to wait"
    case .tooMany: "too many signed unasked"
    case .wrongNumber(let remaining): "wrong number, \(remaining) tries left"
    case .containerLocked: "the container is locked"
    case .mismatch(let reason), .reportDue(let reason): reason
    }
  }

  /// Why digits that answer a transaction were refused.
  func reason(ofAnswer kind: AuditEvent.AnswerKind) -> String? {
    switch self {
    case .notSigned: "wrong \(kind.rawValue)"
    case .locked: "too many wrong codes in a row; unlock the user"
    default: reason
    }
  }
}
