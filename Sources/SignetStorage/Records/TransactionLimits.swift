/// What keeps users from being asked until they give in, and numbers and signatures from being guessed.
public struct TransactionLimits: Hashable, Sendable {
  /// How many transactions may wait for a user at once.
  public var pending: Int
  /// How many transactions in a row, none of them accepted, may be made before each next one has to wait.
  public var challenges: Int
  /// The first wait, in seconds; each next one is twice as long.
  public var wait: Int64
  /// The longest wait, in seconds.
  public var longestWait: Int64
  /// Wrong numbers after which a transaction is denied.
  public var wrongNumbers: Int
  /// How many transactions a user's devices may sign unasked within ``initiatedWindow``.
  public var initiated: Int
  /// Wrong signatures in a row after which nothing is taken from a container.
  public var wrongSignatures: Int

  /// The seconds in which a user's devices may sign ``initiated`` transactions unasked.
  public static let initiatedWindow: Int64 = 3600

  /// How many bytes these may have in all, with their signatures; what is of the protocol has at most half of the least limit.
  public var initiatedByteCount: Int64 { max(32_768, Int64(initiated) * 4096) }

  /// Sets limits.
  ///
  /// - Parameters:
  ///   - pending: Transactions that may wait for a user at once.
  ///   - challenges: Transactions in a row without an accepted one.
  ///   - wait: The first wait, in seconds.
  ///   - longestWait: The longest wait, in seconds.
  ///   - wrongNumbers: Wrong numbers for one transaction.
  ///   - wrongSignatures: Wrong signatures in a row.
  ///   - initiated: Transactions that a user's devices may sign unasked within an hour.
  public init(
    pending: Int = 8, challenges: Int = 8, wait: Int64 = 60, longestWait: Int64 = 3600, wrongNumbers: Int = 3,
    wrongSignatures: Int = 100, initiated: Int = 30
  ) {
    (self.pending, self.challenges, self.wait, self.longestWait) = (pending, challenges, wait, longestWait)
    (self.wrongNumbers, self.wrongSignatures) = (wrongNumbers, wrongSignatures)
    self.initiated = initiated
  }

  /// How long the next transaction has to wait after so many in a row; 0 below the threshold.
  public func wait(after count: Int) -> Int64 {
    guard count >= challenges else { return 0 }
    let doublings = min(count - challenges, 30)
    return min(wait << doublings, longestWait)
  }
}

/// Whether a transaction was made.
public enum AdmissionOutcome: Hashable, Sendable {
  /// It was.
  case added
  /// As many as may be wait already; the first of them ends in so many seconds.
  case tooManyPending(retryAfter: Int64)
  /// The user was asked too often without accepting; the next may be made in so many seconds.
  case coolingDown(retryAfter: Int64)
  /// Nothing was counted: the user has no authenticator that could ever answer it.
  case noAuthenticator
  /// Nothing was looked at: the API key is not good any more.
  case keyRevoked
  /// Nothing was looked at: the client is not good any more.
  case clientRevoked
}
