/// What is kept of an authentication request of OpenID Connect CIBA, beside the transaction that it is.
public struct BackchannelRecord: Hashable, Sendable {
  /// SHA-256 of the `auth_req_id`, 32 bytes.
  public var digest: [UInt8]
  /// The transaction.
  public var transaction: String
  /// Who asked.
  public var client: String
  /// How the client gets what was decided.
  public var delivery: ClientRecord.Delivery
  /// Until when tokens can be had for it.
  public var expires: Int64
  /// What the client is told with, under the server's master key; `nil` for one that polls.
  public var sealedNotice: [UInt8]?
  /// The least time between two polls, in seconds.
  public var interval: Int64
  /// The names of what the answer has to show, the most wanted first; it has to meet one where there are any.
  public var acrValues: [String] = []
  /// When it was asked for last; `nil` before.
  public var lastPoll: Int64?
  /// When its tokens were given out; `nil` before.
  public var issued: Int64?

  /// How long after the end of a transaction its client is still told, in seconds.
  public static let noticeLifetime: Int64 = 300

  /// Describes a request.
  public init(
    digest: [UInt8], transaction: String, client: String, delivery: ClientRecord.Delivery, expires: Int64,
    sealedNotice: [UInt8]? = nil, interval: Int64
  ) {
    (self.digest, self.transaction, self.client, self.delivery) = (digest, transaction, client, delivery)
    (self.expires, self.sealedNotice, self.interval) = (expires, sealedNotice, interval)
  }
}

/// What a client finds that asks for tokens.
public enum PollOutcome: Hashable, Sendable {
  /// There is no such request of this client.
  case unknown
  /// Nothing is decided yet.
  case pending
  /// Nothing is decided yet, and it was asked for too soon: from now on, so many seconds have to pass.
  case tooSoon(interval: Int64)
  /// Nobody decided in time, or what was decided was not asked for in time.
  case expired
  /// Its tokens were given out.
  case used
  /// It has ended.
  case ended(BackchannelRecord, TransactionRecord)
}
