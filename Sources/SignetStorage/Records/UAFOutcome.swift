/// The outcome of a UAF response.
package enum UAFOutcome: Hashable, Sendable {
  /// The response is accepted, and its effects are stored.
  case accepted
  /// The operation has ended or expired before, or there is none.
  case expired
  /// One of the new keys is registered already, or its public key belongs to another authenticator.
  case keyExists
  /// One of the keys is not, or no longer, registered for the user, or is quarantined.
  case keyUnknown
  /// The counter of a key did not grow: the key is quarantined from now on.
  case clonedAuthenticator(CounterUpdate)
  /// The transaction of the operation has ended before.
  case transactionEnded
  /// The user has the maximum number of keys.
  case tooMany
  /// The row MAC of one of the keys does not verify.
  case altered(CounterUpdate)
  /// A requirement is not met.
  case requirementNotMet(reason: String)

  /// The status of an operation that is forbidden for this user, and that must not be retried.
  static let forbiddenStatus = 1403

  /// The protocol's status (UAF Application API section 3.1), which is stored with the operation and sent to the client.
  package var status: Int {
    switch self {
    case .accepted: 1200
    case .tooMany: Self.forbiddenStatus
    case .transactionEnded: 1408
    case .keyUnknown: 1481
    case .expired: 1491
    case .requirementNotMet: 1492
    case .keyExists, .clonedAuthenticator: 1498
    case .altered: 1500
    }
  }
}
