import SignetSQL

extension Storage {
  /// Adds a receiver: from then on every event is written into the outbox for it.
  ///
  /// - Parameters:
  ///   - receiver: The receiver.
  ///   - lifetime: Seconds after an event until its delivery expires.
  /// - Throws: ``StorageFailure/exists`` for a receiver that exists.
  package func addOutboxReceiver(
    _ receiver: OutboxReceiver, lifetime: Int64
  ) async throws(StorageFailure) {
    try await write { database in
      try database.execute(
        "INSERT INTO outbox_receivers (channel, receiver, lifetime) VALUES ($1, $2, $3)",
        [.of(receiver.channel), .text(receiver.id), .integer(lifetime)], changing: 1)
      database.forgetSubscriptions()
    }
  }

  /// Removes a receiver and its unacknowledged deliveries.
  ///
  /// - Returns: `true` if the receiver existed.
  package func removeOutboxReceiver(_ receiver: OutboxReceiver) async throws(StorageFailure) -> Bool {
    try await write { database in
      try database.forgetDeliveries(to: receiver)
      database.forgetSubscriptions()
      return try database.execute(
        "DELETE FROM outbox_receivers WHERE channel = $1 AND receiver = $2",
        [.of(receiver.channel), .text(receiver.id)]) == 1
    }
  }

  /// Returns the deliveries of a channel that are due.
  ///
  /// On an ordered channel that is the oldest delivery of each receiver, unless it is leased or waits for its next attempt.
  ///
  /// - Parameters:
  ///   - channel: The channel.
  ///   - time: The time of the call, in seconds since 1970.
  ///   - limit: The maximum number of deliveries to one receiver.
  /// - Returns: The deliveries that have been due longest, at most 256. A row with a wrong MAC is among them, and marked as altered.
  /// - Throws: ``StorageFailure``.
  package func dueDeliveries(
    on channel: OutboxChannel, at time: Int64, limitPerReceiver limit: Int
  ) async throws(StorageFailure) -> [OutboxRecord] {
    try await read { [mac] database in
      channel.isOrdered
        ? try database.oldestDeliveries(on: channel, dueAt: time)
        : try database.rows(
          """
          SELECT \(OutboxRecord.columns) FROM (
            SELECT \(OutboxRecord.columns), row_number() OVER (PARTITION BY receiver ORDER BY due, number) AS place
            FROM outbox WHERE channel = $1 AND due <= $2
          ) AS found WHERE place <= $3 ORDER BY due, number LIMIT \(SQLConnection.deliveryLimit)
          """, [.of(channel), .integer(time), .int(limit)]
        ) { try OutboxRecord($0, mac) }
    }
  }

  /// Leases a delivery for one attempt; if the sender dies, the delivery is due again at the end of the lease.
  ///
  /// - Parameters:
  ///   - record: The delivery, as the caller read it.
  ///   - end: The end of the lease, in seconds since 1970.
  /// - Returns: The delivery with the lease; `nil` if another sender has leased it, or it has ended.
  /// - Throws: ``StorageFailure``.
  package func leaseDelivery(
    _ record: OutboxRecord, until end: Int64
  ) async throws(StorageFailure) -> OutboxRecord? {
    let leased = record.leased(until: end)
    let isLeased = try await write { database in
      try database.execute(
        """
        UPDATE outbox SET due = $1, attempts = $2 WHERE number = $3 AND attempts = $4 AND due = $5
        """,
        [
          .integer(leased.due), .int(leased.attempts), .integer(record.number), .int(record.attempts),
          .integer(record.due),
        ]) == 1
    }
    return isLeased ? leased : nil
  }

  /// Ends an attempt.
  ///
  /// - Parameters:
  ///   - record: The delivery with its lease.
  ///   - next: The time of the next attempt; `nil` to delete the delivery, which was acknowledged or abandoned.
  ///   - audit: The event; `nil` for none.
  /// - Returns: `true` if the lease was still valid; nothing is changed if another sender has leased the delivery since.
  /// - Throws: ``StorageFailure``.
  package func endDelivery(
    _ record: OutboxRecord, next: Int64?, audit: AuditRecord?
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let lease: [SQLValue] = [.integer(record.number), .int(record.attempts)]
      let changed =
        if let next {
          try database.execute(
            "UPDATE outbox SET due = $3 WHERE number = $1 AND attempts = $2", lease + [.integer(next)])
        } else {
          try database.execute("DELETE FROM outbox WHERE number = $1 AND attempts = $2", lease)
        }
      guard changed == 1 else { return false }
      if let audit { try database.appendAudit(audit) }
      return true
    }
  }
}

extension SQLConnection {
  /// The maximum number of deliveries that one step reads.
  fileprivate static let deliveryLimit = 256

  /// Writes an event into the outbox, one row for each receiver, within the step that causes the event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - time: Its time, in seconds since 1970.
  ///   - client: An OpenID Connect client that is a receiver too; `nil` for none.
  /// - Throws: ``SQLFailure``.
  func publish(_ event: OutboxEvent, at time: Int64, alsoTo client: ID<ClientRecord>? = nil) throws {
    var subscriptions = try self.subscriptions()
    if let client {
      subscriptions.append(
        OutboxSubscription(OutboxReceiver(.ciba, client.text), lifetime: BackchannelRecord.noticeLifetime))
    }
    guard !subscriptions.isEmpty else { return }
    var owner: UserID?
    if event.user == nil, let authenticator = event.authenticator {
      owner = try row(authenticator.table.ownerQuery, [.text(event.subject)]) { try $0.user(0) }
      if owner == nil { return }  // bound to no account
    }
    let published = try event.externalForm(of: owner, calling: subject(of:))
    for subscription in subscriptions { try insert(subscription.delivery(of: published, at: time)) }
  }

  private static let cachedSubscriptions = TransactionLocal<[OutboxSubscription]?>(isRetained: true)

  /// Returns the receivers of every event, cached while no other connection changes the database.
  private func subscriptions() throws -> [OutboxSubscription] {
    if let cached = try local(Self.cachedSubscriptions, load: { nil }) { return cached }
    let found = try rows(
      "SELECT channel, receiver, lifetime FROM outbox_receivers ORDER BY channel, receiver"
    ) { row -> OutboxSubscription? in
      // A row on an unknown channel is ignored, so that it cannot block the change that publishes the event.
      guard let channel = OutboxChannel(rawValue: try row.text(0)) else { return nil }
      return OutboxSubscription(OutboxReceiver(channel, try row.text(1)), lifetime: try row.integer(2))
    }.compactMap { $0 }
    setLocal(Self.cachedSubscriptions, to: found)
    return found
  }

  /// Clears the cache of receivers, after a change of them.
  fileprivate func forgetSubscriptions() { setLocal(Self.cachedSubscriptions, to: nil) }

  /// Deletes the deliveries to a receiver.
  func forgetDeliveries(to receiver: OutboxReceiver) throws {
    _ = try execute(
      "DELETE FROM outbox WHERE channel = $1 AND receiver = $2", [.of(receiver.channel), .text(receiver.id)])
  }

  /// Returns the oldest delivery of each receiver, if it is due, with one index lookup for each receiver.
  fileprivate func oldestDeliveries(
    on channel: OutboxChannel, dueAt time: Int64
  ) throws -> [OutboxRecord] {
    var found: [OutboxRecord] = []
    var receiver = ""
    while found.count < Self.deliveryLimit,
      let next: OutboxRecord = try record(
        "WHERE channel = $1 AND receiver > $2 ORDER BY receiver, number LIMIT 1",
        [.of(channel), .text(receiver)])
    {
      receiver = next.receiver.id
      if next.due <= time { found.append(next) }
    }
    return found
  }
}
