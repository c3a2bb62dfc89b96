/// Rate limits against MFA fatigue, and limits against the guessing of numbers and signatures.
package struct TransactionLimits: Hashable, Sendable {
  /// The maximum number of pending requests to a user; one requester may have at most half of them, rounded up.
  package var pending: Int
  /// The number of consecutive unaccepted requests from which on each next one has to wait; for one requester it is half of
  /// that, rounded up.
  package var challenges: Int
  /// The first waiting time, in seconds; it doubles each time.
  package var wait: Int64
  /// The longest waiting time, in seconds.
  package var longestWait: Int64
  /// The number of wrong numbers after which a transaction is denied.
  package var wrongNumbers: Int
  /// The maximum number of transactions that a user's devices may initiate within ``initiatedWindow``.
  package var initiated: Int
  /// The number of consecutive wrong signatures after which the server rejects everything from a container.
  package var wrongSignatures: Int

  /// The window for ``initiated`` transactions, in seconds.
  package static let initiatedWindow: Int64 = 3600

  /// The maximum number of bytes of these transactions in total, with their signatures; one by the protocol has at most half
  /// of the smallest limit.
  package var initiatedByteCount: Int64 { max(32_768, Int64(initiated) * 4096) }

  /// Sets limits.
  package init(
    pending: Int = 8, challenges: Int = 8, wait: Int64 = 60, longestWait: Int64 = 3600, wrongNumbers: Int = 3,
    wrongSignatures: Int = 100, initiated: Int = 30
  ) {
    self.pending = pending
    self.challenges = challenges
    self.wait = wait
    self.longestWait = longestWait
    self.wrongNumbers = wrongNumbers
    self.wrongSignatures = wrongSignatures
    self.initiated = initiated
  }

  /// The limits of one requester: half of ``pending`` and ``challenges``, rounded up, so that others can still ask.
  var share: TransactionLimits {
    var share = self
    (share.pending, share.challenges) = (pending - pending / 2, challenges - challenges / 2)
    return share
  }

  /// Returns the waiting time after this number of consecutive requests, in seconds; 0 below the threshold.
  package func wait(after count: Int) -> Int64 {
    guard count >= challenges else { return 0 }
    let doublings = min(count - challenges, 30)
    return min(wait << doublings, longestWait)
  }
}

/// The outcome of a request.
package enum AdmissionOutcome: Hashable, Sendable {
  /// It was added.
  case added
  /// The maximum number of requests is pending; the first of them ends in this many seconds.
  case tooManyPending(retryAfter: Int64)
  /// The user was asked too often without accepting; the next request is possible in this many seconds.
  case coolingDown(retryAfter: Int64)
  /// Not counted: the user has no authenticator that could ever answer it.
  case noAuthenticator
  /// Not counted: the transaction that a UAF operation would answer has ended.
  case transactionEnded
  /// Not evaluated: the API key is revoked.
  case keyRevoked
  /// Not evaluated: the client is revoked.
  case clientRevoked
}
