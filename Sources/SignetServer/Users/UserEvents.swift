package import SignetJSON
package import SignetStorage

/// Searches the audit log for the last events about a user, from the newest entry back.
///
/// The log has no index by user, which would cost a row per entry. The search therefore has a limit and returns where it
/// stopped.
package struct UserEvents: Sendable {
  /// The largest number of events in the result.
  package static let limit = 10

  private let context: ServiceContext
  private let user: UserRecord
  private let ids: Set<String>
  private let batchSize: Int
  private let limitPerChain: Int

  /// Creates a search for a user's events.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - holdings: Everything bound to the account.
  ///   - context: The server's context.
  ///   - batchSize: The number of entries of each chain that one step reads.
  ///   - limitPerChain: The number of entries of a chain after which the search ends.
  package init(
    of user: UserRecord, _ holdings: AccountHoldings, _ context: ServiceContext, batchSize: Int = 2_000,
    limitPerChain: Int = 100_000
  ) {
    self.user = user
    self.context = context
    self.batchSize = batchSize
    self.limitPerChain = limitPerChain
    ids = Set(holdings.authenticators.map(\.id)).union(holdings.devices.map(\.id.text))
  }

  /// Returns the last events that name the user, or the user's container, device, token or app, or end a user's request.
  ///
  /// - Returns: The newest events first. If the search stopped early, also the time (s since 1970) after which the list is
  ///   complete.
  /// - Throws: ``StorageFailure``.
  package func last() async throws -> (found: [JSONObject], after: Int64?) {
    var about: [JSONObject] = []
    // An event that ends a request need not name its user.
    var ends: [(request: String, event: JSONObject)] = []
    var stretch: AuditStretch?
    var horizon: Int64?
    var readCount = 0
    var isEnough = false
    repeat {
      let next = try await context.storage.auditStretch(
        about: user.subject, before: stretch, limit: batchSize)
      for event in next.entries.map({ AuditListing.stored($0) }) {
        if isAbout(event) {
          about.append(event)
        } else if let request = Self.text(.transaction, in: event) {
          ends.append((request, event))
        }
      }
      // The chains are merged by the times of their events. In no chain is an entry after this time still unread.
      horizon = next.unread.map { Self.time(of: AuditListing.stored($0)).0 }.max()
      isEnough = about.count { event in horizon.map { Self.time(of: event).0 > $0 } ?? true } >= Self.limit
      (stretch, readCount) = (next, readCount + batchSize)
    } while !isEnough && horizon != nil && readCount < limitPerChain
    let oldest = isEnough ? Self.newest(about).last : nil
    let requestEnds = try await endsOfOwnRequests(
      among: ends, since: oldest, naming: about, inAll: horizon == nil)
    let found = try await AuditListing.named(Self.newest(about + requestEnds), context.storage)
    return (found, isEnough ? nil : horizon)
  }

  /// Returns the events that ended the user's requests.
  ///
  /// - Parameters:
  ///   - ends: The ends of all users' requests.
  ///   - oldest: The oldest event of the result; older ends are skipped. `nil` if all events are in the result.
  ///   - about: Events about the user.
  ///   - isAll: True if `about` has all of them and therefore names each of the user's requests.
  /// - Returns: The events. If requests had to be looked up, it has the newest ones: at least ``limit``, if there are so
  ///   many.
  /// - Throws: ``StorageFailure``.
  private func endsOfOwnRequests(
    among ends: [(request: String, event: JSONObject)], since oldest: JSONObject?, naming about: [JSONObject],
    inAll isAll: Bool
  ) async throws -> [JSONObject] {
    var requests = Set(about.compactMap { Self.text(.transaction, in: $0) })
    let ends =
      oldest.map { oldest in ends.filter { Self.time(of: $0.event) >= Self.time(of: oldest) } } ?? ends
    let unknown = isAll ? [] : ends.filter { !requests.contains($0.request) }
    var names = unknown.map { (Self.time(of: $0.event), $0.request) }.sorted { $0.0 > $1.0 }.map(\.1)[...]
    var foundCount = 0
    while !names.isEmpty, foundCount < Self.limit {
      let found = try await context.storage.transactions(
        names.prefix(100).map { TransactionID(unchecked: $0) }, of: user.id)
      names = names.dropFirst(100)
      foundCount += found.count
      requests.formUnion(found.map(\.text))
    }
    return ends.filter { requests.contains($0.request) }.map { $0.event }
  }

  private func isAbout(_ event: JSONObject) -> Bool {
    if let named = Self.text(.user, in: event) { return named == user.subject }
    return [AuditEvent.Member.container, .device, .token, .mechanism].contains { member in
      Self.text(member, in: event).map(ids.contains) ?? false
    }
  }

  private static func newest(_ events: [JSONObject]) -> [JSONObject] {
    Array(events.map { (time(of: $0), $0) }.sorted { $0.0 > $1.0 }.prefix(limit).map(\.1))
  }

  private static func text(_ member: AuditEvent.Member, in event: JSONObject) -> String? {
    guard case .string(let text)? = event[member.rawValue] else { return nil }
    return text
  }

  private static func time(of event: JSONObject) -> (Int64, Int64) {
    guard case .integer(let time)? = event["time"], case .integer(let number)? = event["number"] else {
      return (0, 0)
    }
    return (time, number)
  }
}
