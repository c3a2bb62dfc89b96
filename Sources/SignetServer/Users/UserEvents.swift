package import SignetJSON
package import SignetStorage

/// Looks for the last events about a user: from the newest entry of the audit log back, until there are enough.
///
/// The log has no index by user, which would cost a row per entry; the search therefore has a limit and returns where it stopped.
package struct UserEvents: Sendable {
  /// How many events are found at most.
  package static let limit = 10

  private let context: ServiceContext
  private let user: UserRecord
  private let ids: Set<String>
  private let batchSize: Int
  private let limitPerChain: Int

  /// A search for what is about a user.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - holdings: What is bound to the account.
  ///   - context: The server's.
  ///   - batchSize: How many entries of each chain are looked at in one step.
  ///   - limitPerChain: At how many entries of a chain the search ends.
  package init(
    of user: UserRecord, _ holdings: AccountHoldings, _ context: ServiceContext, batchSize: Int = 2_000,
    limitPerChain: Int = 100_000
  ) {
    (self.user, self.context) = (user, context)
    (self.batchSize, self.limitPerChain) = (batchSize, limitPerChain)
    ids = Set(holdings.authenticators.map(\.id)).union(holdings.devices.map(\.id.text))
  }

  /// The last events that name the user, or a container, device, token or app of the user's, or that ended a request to the user.
  ///
  /// - Returns: The newest events first. If the search stopped early, also the time (s since 1970) after which the list is complete.
  /// - Throws: ``StorageFailure``.
  package func last() async throws -> (found: [JSONObject], after: Int64?) {
    var about: [JSONObject] = []
    // Who ends a request need not say whose it was.
    var ends: [(request: String, event: JSONObject)] = []
    var stretch: AuditStretch?
    var horizon: Int64?
    var looked = 0
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
      // Chains are put together by the times of their events: nothing after this time is unread in any of them.
      horizon = next.unread.map { Self.time(of: AuditListing.stored($0)).0 }.max()
      isEnough = about.count { event in horizon.map { Self.time(of: event).0 > $0 } ?? true } >= Self.limit
      (stretch, looked) = (next, looked + batchSize)
    } while !isEnough && horizon != nil && looked < limitPerChain
    let oldest = isEnough ? Self.newest(about).last : nil
    let own = try await endsOfOwnRequests(among: ends, since: oldest, naming: about, inAll: horizon == nil)
    let found = try await AuditListing.named(Self.newest(about + own), context.storage)
    return (found, isEnough ? nil : horizon)
  }

  /// The ends of the user's requests.
  ///
  /// - Parameters:
  ///   - ends: The ends of anybody's.
  ///   - oldest: The oldest event that matters; the events of requests may be older. `nil` where all that was found matters.
  ///   - about: Events about the user.
  ///   - isAll: Whether `about` has all of them, so that it names each request.
  /// - Returns: Their events; where requests had to be looked up, the newest of those, ``limit`` at least if there are so many.
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
