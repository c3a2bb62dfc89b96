package import SignetJSON
import SignetProtocol
import SignetPushAuth
package import SignetStorage
import SignetSystem

extension AuthenticatorRecord.Kind: Shaped {}
extension AuthenticatorRecord.State: Shaped {}
extension OpenRequestRecord.Kind: Shaped {}

/// An authenticator of any kind in operators' lists.
package struct AuthenticatorDetails: Message {
  package let id: String, kind: AuthenticatorRecord.Kind, device: ID<DeviceRecord>?, name: String
  package let state: AuthenticatorRecord.State, reason: String?, created: Int64, lastUsed: Int64?
  package let proves: Proof?, keyProtection: KeyAssurance?

  /// The best evidence of an answer with it; the members are those of requirements (`docs/protocol.md` section 11.5).
  package struct Proof: Message {
    package let factors: Int64, userVerification: Bool, phishingResistance: Bool, contentSigned: Bool

    package static let schema = MessageSchema(Self.init) {
      Member("factors", \Self.factors, .integer(1...3).ofRow)
      Member("userVerification", \Self.userVerification)
      Member("phishingResistance", \Self.phishingResistance)
      Member("contentSigned", \Self.contentSigned)
    }
  }

  package static let schema = MessageSchema(Self.init, named: "Authenticator") {
    Member("id", \Self.id, "Among its kind: of `uaf` the model and the key, of `otp` the serial number.")
    Member("kind", \Self.kind)
    Member("device", \Self.device, "The id of its device, where that is known.")
    Member("name", \Self.name)
    Member(
      "state", \Self.state,
      "`altered` if its row was not written by this server: nothing from it is accepted.")
    Member("reason", \Self.reason, "Why it is suspended, or that its row was altered.")
    Member("created", \Self.created, .time)
    Member(
      "lastUsed", \Self.lastUsed, .time,
      "When it last made an accepted code, or answered. For a UAF key only if it counts its signatures; for an app only within 30 days."
    )
    Member("proves", \Self.proves, "The most that it can prove; absent if its row was altered.")
    Member("keyProtection", \Self.keyProtection, "Where its key is stored, and whether that is attested.")
  }
}

extension AuthenticatorDetails {
  init(_ record: AuthenticatorRecord, named name: String, _ evidence: AuthenticationEvidence?) {
    self.init(
      id: record.id, kind: record.kind, device: record.device, name: name, state: record.state,
      reason: record.reason.isEmpty ? nil : record.reason, created: record.created,
      lastUsed: record.lastUsed, proves: evidence.map { Proof($0) }, keyProtection: evidence?.keyProtection)
  }
}

extension AuthenticatorDetails.Proof {
  fileprivate init(_ evidence: AuthenticationEvidence) {
    self.init(
      factors: Int64(evidence.factors), userVerification: evidence.isUserVerified,
      phishingResistance: evidence.isPhishingResistant, contentSigned: evidence.isContentSigned)
  }
}

/// An open request to a user.
package struct OpenRequest: Message {
  package let id: String, kind: OpenRequestRecord.Kind, requester: String?, content: String?
  package let created: Int64, expires: Int64

  package static let schema = MessageSchema(Self.init, named: "OpenRequest") {
    Member("id", \Self.id, "Among its kind.")
    Member(
      "kind", \Self.kind,
      "A transaction, which CIBA and messages to authenticator apps make too; or an operation of UAF that is asked alone."
    )
    Member(
      "requester", \Self.requester, "The requester, as in the audit log; absent if the user initiated it.")
    Member("content", \Self.content, "Of a transaction, as devices show it: JSON.")
    Member("created", \Self.created, .time)
    Member("expires", \Self.expires, .time)
  }
}

/// A user with everything bound to the account, the open requests and the last events.
package struct UserDetails: Message {
  package let user: String, displayName: String?, subject: String, created: Int64
  package let state: UserRecord.State, since: Int64, reason: String?
  package let devices: [DeviceDetails], authenticators: [AuthenticatorDetails], requests: [OpenRequest]
  package let events: [JSONObject], eventsAfter: Int64?

  package static let schema = MessageSchema(Self.init, named: "UserDetails") {
    Member("user", \Self.user)
    Member("displayName", \Self.displayName, "The name that operators see.")
    Member("subject", \Self.subject, "The user's name in the audit log and in tokens (`sub`).")
    Member("created", \Self.created, .time)
    Member("state", \Self.state)
    Member("since", \Self.since, .time, "When the user came into the state.")
    Member("reason", \Self.reason, "The operator's reason.")
    Member("devices", \Self.devices)
    Member("authenticators", \Self.authenticators, "Of all kinds, oldest first.")
    Member("requests", \Self.requests, "The newest first, at most 100.")
    Member(
      "events", \Self.events, .list(.object(AuditEntryDescription.described)),
      "The last ten that name the user or what is bound to the account, the newest first.")
    Member(
      "eventsAfter", \Self.eventsAfter, .time,
      "Present if the search stopped before it had ten: all events after this time are listed, others may be missing."
    )
  }
}

/// Collects the details of a user for operators.
struct UserOverview: Sendable {
  private let context: ServiceContext
  /// The largest number of requests in the answer.
  private static let requestLimit = 100

  init(_ context: ServiceContext) { self.context = context }

  /// Returns the details of a user.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  func details(of user: UserID) async throws -> UserDetails {
    let record = try await UserService(context).find(user)
    let holdings = try await context.storage.holdings(
      of: user, codeAttempts: context.settings.codeAttempts)
    let requests = try await context.storage.openRequests(
      to: user, at: context.clock.now, limit: Self.requestLimit)
    let apps = PushAuthService(context)
    let events = try await UserEvents(of: record, holdings, context).last()
    return UserDetails(
      user: record.id.text, displayName: record.displayName, subject: record.subject,
      created: record.created, state: record.state, since: record.stateSince,
      reason: record.stateReason.isEmpty ? nil : record.stateReason,
      devices: holdings.devices.map { DeviceDetails($0, among: holdings) },
      authenticators: holdings.authenticators.map { one in
        var name = one.name
        if case .app(let app) = one.source { name = apps.device(of: app)?.name ?? "" }
        return AuthenticatorDetails(
          one, named: name, AuthenticationEvidence(atBestOf: one, among: context.uaf?.models))
      },
      requests: requests.map {
        OpenRequest(
          id: $0.id, kind: $0.kind, requester: $0.requester, content: $0.content, created: $0.created,
          expires: $0.expires)
      }, events: events.found, eventsAfter: events.after)
  }
}
