/// What keeps users from being asked until they give in, and numbers and signatures from being guessed.
public struct TransactionLimits: Hashable, Sendable {
  /// How many requests may wait for a user at once, of one requester at most half of them, rounded up.
  public var pending: Int
  /// How many requests in a row, none of them accepted, may be made before each next one has to wait; one requester's have to from half of
  /// them on, rounded up.
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
  ///   - pending: Requests that may wait for a user at once.
  ///   - challenges: Requests in a row without an accepted one.
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

  /// The limits of one requester: half of ``pending`` and ``challenges``, rounded up, so that it leaves something to others.
  var share: TransactionLimits {
    var share = self
    (share.pending, share.challenges) = (pending - pending / 2, challenges - challenges / 2)
    return share
  }

  /// How long the next request has to wait after so many in a row; 0 below the threshold.
  public func wait(after count: Int) -> Int64 {
    guard count >= challenges else { return 0 }
    let doublings = min(count - challenges, 30)
    return min(wait << doublings, longestWait)
  }
}

/// Whether a request was made.
public enum AdmissionOutcome: Hashable, Sendable {
  /// It was.
  case added
  /// As many as may be wait already; the first of them ends in so many seconds.
  case tooManyPending(retryAfter: Int64)
  /// The user was asked too often without accepting; the next may be made in so many seconds.
  case coolingDown(retryAfter: Int64)
  /// Nothing was counted: the user has no authenticator that could ever answer it.
  case noAuthenticator
  /// Nothing was counted: the transaction that a UAF operation would answer is over.
  case transactionOver
  /// Nothing was looked at: the API key is not good any more.
  case keyRevoked
  /// Nothing was looked at: the client is not good any more.
  case clientRevoked
}
