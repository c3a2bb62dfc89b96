import SignetSQL

/// An authentication request of OpenID Connect CIBA, in addition to its transaction.
package struct BackchannelRecord: Hashable, Sendable {
  /// SHA-256 of the `auth_req_id`, 32 bytes.
  package var digest: [UInt8]
  /// The transaction.
  package var transaction: TransactionID
  /// The client that asked.
  package var client: ID<ClientRecord>
  /// The delivery mode.
  package var delivery: ClientRecord.Delivery
  /// The end of the time for tokens, in seconds since 1970.
  package var expires: Int64
  /// The data for the notification of the client, encrypted under the server's master key; `nil` for a client that polls.
  package var sealedNotice: [UInt8]?
  /// The required interval between two polls, in seconds.
  package var interval: Int64
  /// When the client last polled; `nil` for never.
  package var lastPoll: Int64?
  /// When its tokens were issued; `nil` for not yet.
  package var issued: Int64?

  /// The time after the end of a transaction during which its client is still notified, in seconds.
  package static let noticeLifetime: Int64 = 300

  /// Describes a request.
  package init(
    digest: [UInt8], transaction: TransactionID, client: ID<ClientRecord>, delivery: ClientRecord.Delivery,
    expires: Int64,
    sealedNotice: [UInt8]? = nil, interval: Int64
  ) {
    self.digest = digest
    self.transaction = transaction
    self.client = client
    self.delivery = delivery
    self.expires = expires
    self.sealedNotice = sealedNotice
    self.interval = interval
  }
}

/// The outcome of a client's poll.
package enum PollOutcome: Hashable, Sendable {
  /// There is no such request of this client.
  case unknown
  /// Not decided yet.
  case pending
  /// Not decided yet, and polled too soon: the new required interval in seconds.
  case tooSoon(interval: Int64)
  /// Not decided in time, or the result was not fetched in time.
  case expired
  /// Its tokens were issued before.
  case used
  /// It has ended.
  case ended(BackchannelRecord, TransactionRecord)
}

extension BackchannelRecord: StoredRecord {
  static let table = "backchannel_requests"
  static let columns =
    "digest, txn, client, delivery, expires, sealed_notice, poll_interval, last_poll, issued, code"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if its MAC does not verify; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      digest: try row.blob(0), transaction: try row.id(1), client: try row.id(2),
      delivery: try row.value(3), expires: try row.integer(4),
      sealedNotice: try row.optional(5, row.blob), interval: try row.integer(6))
    lastPoll = try row.optional(7, row.integer)
    issued = try row.optional(8, row.integer)
    try mac.check(
      image, try row.optional(9, row.blob), named: "the request of \(transaction)", of: Self.table
    )
  }

  /// The input of the row's MAC: all columns that polls do not change.
  fileprivate var image: MACInput {
    var image = MACInput(Self.table)
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
  func insert(_ request: BackchannelRecord) throws {
    try insert(
      into: BackchannelRecord.table,
      "digest, txn, client, delivery, expires, sealed_notice, poll_interval, code",
      [
        .blob(request.digest), .of(request.transaction), .of(request.client),
        .text(request.delivery.rawValue), .integer(request.expires), .optional(request.sealedNotice),
        .integer(request.interval),
        .optional(rowMAC.mac(of: request.image)),
      ])
  }

  /// Sets the expiry of a request that is reported as expired to 0, so that it stays expired if the clock is set back.
  func close(_ request: BackchannelRecord) throws {
    guard request.expires > 0 else { return }
    var closed = request
    closed.expires = 0
    try execute(
      "UPDATE backchannel_requests SET expires = 0, code = $1 WHERE digest = $2",
      [.optional(rowMAC.mac(of: closed.image)), .blob(request.digest)], changing: 1)
  }
}
