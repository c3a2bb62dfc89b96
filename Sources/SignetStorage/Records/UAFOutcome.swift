/// How a UAF response ended.
public enum UAFOutcome: Hashable, Sendable {
  /// The response is accepted, and what it asks for is done.
  case accepted
  /// The operation has ended before, its time is over, or there is none.
  case expired
  /// One of the new keys is registered already, or its public key is another authenticator's.
  case keyExists
  /// One of the keys is not, or no longer, registered for the user, or is in quarantine.
  case keyUnknown
  /// The counter of one did not grow: it is in quarantine from now on.
  case clonedAuthenticator(CounterUpdate)
  /// The transaction that goes with it has ended before.
  case transactionOver
  /// The user has as many keys as one may have.
  case tooMany
  /// The row of one of the keys is not as the server wrote it.
  case altered(CounterUpdate)
  /// A requirement is not met.
  case requirementNotMet(reason: String)

  /// The protocol's status of what is not for this user, and is not to be tried again.
  static let forbiddenStatus = 1403

  /// The protocol's status (UAF Application API section 3.1): what is kept of the operation, and what the client is told.
  public var status: Int {
    switch self {
    case .accepted: 1200
    case .tooMany: Self.forbiddenStatus
    case .transactionOver: 1408
    case .keyUnknown: 1481
    case .expired: 1491
    case .requirementNotMet: 1492
    case .keyExists, .clonedAuthenticator: 1498
    case .altered: 1500
    }
  }
}
