import SignetSQL

/// What is kept of an authentication request of OpenID Connect CIBA, beside the transaction that it is.
public struct BackchannelRecord: Hashable, Sendable {
  /// SHA-256 of the `auth_req_id`, 32 bytes.
  public var digest: [UInt8]
  /// The transaction.
  public var transaction: TransactionID
  /// Who asked.
  public var client: ID<ClientRecord>
  /// How the client gets what was decided.
  public var delivery: ClientRecord.Delivery
  /// Until when tokens can be had for it.
  public var expires: Int64
  /// What the client is told with, under the server's master key; `nil` for one that polls.
  public var sealedNotice: [UInt8]?
  /// The least time between two polls, in seconds.
  public var interval: Int64
  /// When it was asked for last; `nil` before.
  public var lastPoll: Int64?
  /// When its tokens were given out; `nil` before.
  public var issued: Int64?

  /// How long after the end of a transaction its client is still told, in seconds.
  public static let noticeLifetime: Int64 = 300

  /// Describes a request.
  public init(
    digest: [UInt8], transaction: TransactionID, client: ID<ClientRecord>, delivery: ClientRecord.Delivery,
    expires: Int64,
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

extension BackchannelRecord {
  static let columns =
    "digest, txn, client, delivery, expires, sealed_notice, poll_interval, last_poll, issued, code"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      digest: try row.blob(0), transaction: try row.id(1), client: try row.id(2),
      delivery: try row.value(3), expires: try row.integer(4),
      sealedNotice: try row.optional(5, row.blob), interval: try row.integer(6))
    lastPoll = try row.optional(7, row.integer)
    issued = try row.optional(8, row.integer)
    try mac.check(
      image, try row.optional(9, row.blob), named: "the request of \(transaction)", of: "backchannel_requests"
    )
  }

  /// What its MAC covers: what was asked, by whom, and how it is answered.
  ///
  /// What changes with polls is no part of that.
  fileprivate var image: MACInput {
    var image = MACInput("backchannel_requests")
    image.append(digest)
    image.append(transaction)
    image.append(client)
    image.append(delivery.rawValue)
    image.append(expires)
    image.append(sealedNotice)
    return image
  }
}

extension SQLConnection {
  /// Adds a request.
  func insert(_ request: BackchannelRecord) throws {
    try execute(
      """
      INSERT INTO backchannel_requests
        (digest, txn, client, delivery, expires, sealed_notice, poll_interval, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .blob(request.digest), .of(request.transaction), .of(request.client),
        .text(request.delivery.rawValue), .integer(request.expires), .optional(request.sealedNotice),
        .integer(request.interval),
        .optional(rowMAC.mac(of: request.image)),
      ], changing: 1)
  }

  /// Moves the end of a request that is told as expired to the beginning, so that it stays so where the clock is set back.
  func close(_ request: BackchannelRecord) throws {
    guard request.expires > 0 else { return }
    var closed = request
    closed.expires = 0
    try execute(
      "UPDATE backchannel_requests SET expires = 0, code = $1 WHERE digest = $2",
      [.optional(rowMAC.mac(of: closed.image)), .blob(request.digest)], changing: 1)
  }
}
