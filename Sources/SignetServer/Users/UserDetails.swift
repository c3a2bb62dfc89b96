package import SignetJSON
import SignetPushAuth
package import SignetStorage
import SignetWire

extension AuthenticatorRecord.Kind: Shaped {}
extension AuthenticatorRecord.State: Shaped {}
extension OpenRequestRecord.Kind: Shaped {}

/// An authenticator of whatever kind, as operators see it.
package struct AuthenticatorDetails: Message {
  package let id: String, kind: AuthenticatorRecord.Kind, device: String?, name: String
  package let state: AuthenticatorRecord.State, reason: String?, created: Int64

  package static let schema = MessageSchema(Self.init, named: "Authenticator") {
    Member("id", \Self.id, "Among its kind: of `uaf` the model and the key, of `otp` the serial number.")
    Member("kind", \Self.kind)
    Member("device", \Self.device, "The id of its device, where that is known.")
    Member("name", \Self.name)
    Member("state", \Self.state)
    Member("reason", \Self.reason, "Why it is suspended.")
    Member("created", \Self.created, .time)
  }
}

/// A request that waits for a user.
package struct OpenRequest: Message {
  package let id: String, kind: OpenRequestRecord.Kind, requester: String?, content: String?
  package let created: Int64, expires: Int64

  package static let schema = MessageSchema(Self.init, named: "OpenRequest") {
    Member("id", \Self.id, "Among its kind.")
    Member(
      "kind", \Self.kind,
      "A transaction, which CIBA makes too; a message to an authenticator app, or an operation of UAF, that is asked alone."
    )
    Member("requester", \Self.requester, "Who asks, as the audit log has it; none where the user does.")
    Member("content", \Self.content, "Of a transaction, as devices show it: JSON.")
    Member("created", \Self.created, .time)
    Member("expires", \Self.expires, .time)
  }
}

/// A user with all that is bound to the account, what is asked now, and what happened last.
package struct UserDetails: Message {
  package let user: String, subject: String, created: Int64, state: UserRecord.State, since: Int64
  package let reason: String?
  package let devices: [DeviceDetails], authenticators: [AuthenticatorDetails], requests: [OpenRequest]
  package let events: [JSONObject]

  package static let schema = MessageSchema(Self.init, named: "UserDetails") {
    Member("user", \Self.user)
    Member("subject", \Self.subject, "What the audit log and tokens (`sub`) call the user.")
    Member("created", \Self.created, .time)
    Member("state", \Self.state)
    Member("since", \Self.since, .time, "When the user came into the state.")
    Member("reason", \Self.reason, "Why, in the operator's words.")
    Member("devices", \Self.devices)
    Member("authenticators", \Self.authenticators, "Of all kinds, oldest first.")
    Member("requests", \Self.requests, "The newest first, at most 100.")
    Member(
      "events", \Self.events, .list(.object(AuditEntryMembers.described)),
      "The last ones that name the user or what is bound to the account, the newest first.")
  }
}

/// Puts together what operators see of a user.
struct UserOverview: Sendable {
  private let context: ServiceContext
  /// How many requests are shown.
  private static let requestLimit = 100
  /// How many events are shown, and among how many of the newest they are looked for.
  private static let (eventLimit, searchLimit) = (10, 2_000)

  init(_ context: ServiceContext) { self.context = context }

  /// The details of a user.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  func details(of user: UserID) async throws -> UserDetails {
    let record = try await UserService(context).find(user)
    let holdings = try await context.storage.holdings(
      of: user.text, codeAttempts: context.settings.codeAttempts)
    let requests = try await context.storage.openRequests(
      to: user.text, at: context.clock.now, limit: Self.requestLimit)
    let appNames = try await appNames(of: user)
    return UserDetails(
      user: record.id, subject: record.subject, created: record.created, state: record.state,
      since: record.stateSince,
      reason: record.stateReason.isEmpty ? nil : record.stateReason,
      devices: holdings.devices.map { DeviceDetails($0) },
      authenticators: holdings.authenticators.map { one in
        AuthenticatorDetails(
          id: one.id, kind: one.kind, device: one.device,
          name: one.kind == .pushApp ? appNames[one.id] ?? "" : one.name, state: one.state,
          reason: one.reason.isEmpty ? nil : one.reason, created: one.created)
      },
      requests: requests.map {
        OpenRequest(
          id: $0.id, kind: $0.kind, requester: $0.requester, content: $0.content, created: $0.created,
          expires: $0.expires)
      }, events: try await events(of: record.subject, holdings))
  }

  /// The names of authenticator apps, which are sealed.
  private func appNames(of user: UserID) async throws -> [String: String] {
    let service = PushAuthService(context)
    var names: [String: String] = [:]
    for app in try await context.storage.pushAuthMechanisms(user: user.text) {
      names[app.id] = service.device(of: app)?.name
    }
    return names
  }

  /// The last events that name the user, or a container, device or token of the user's.
  private func events(of subject: String, _ holdings: AccountHoldings) async throws -> [JSONObject] {
    let newest = try await context.storage.lastAuditEntries(limit: Self.searchLimit)
    let ids: Set = Set(holdings.authenticators.map(\.id)).union(holdings.devices.map(\.id))
    let stored = newest.map { AuditListing.stored($0) }
    let own = stored.filter { $0["user"] == .string(subject) }
    // Who ends a request need not say whose it was.
    let requests = Set(own.compactMap { Self.text(.transaction, in: $0) })
    let about = stored.filter { json in
      if json["user"] == .string(subject) { return true }
      if let request = Self.text(.transaction, in: json), requests.contains(request) { return true }
      return [AuditEvent.Member.container, .device, .token, .mechanism].contains { member in
        Self.text(member, in: json).map(ids.contains) ?? false
      }
    }
    // Chains of several connections are put together by the times of their events.
    let sorted = about.map { (Self.time(of: $0), $0) }.sorted { $0.0 > $1.0 }
    return try await AuditListing.named(sorted.prefix(Self.eventLimit).map(\.1), context.storage)
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
