import SignetCrypto
import SignetSQL

/// The storage of containers of the Signet app, with invites, orders and push targets.
struct ContainerTable: DeviceBoundTable, AnsweringTable {
  let kind = AuthenticatorRecord.Kind.container
  let ownerQuery = "SELECT user_id FROM containers WHERE id = $1"

  var tables: [SQLTable] {
    [
      SQLTable(
        "activations",
        [
          .text("id").primaryKey, .text("user_id").references("users", "id"), .blob("sealed_invite_key"),
          .blob("salt"), .integer("memory"), .integer("passes"), .integer("lanes"), .blob("profile"),
          .integer("created"), .integer("expires"), .integer("failed_attempts").defaulting(to: 0),
          .text("state"), .blob("code").optional,
        ],
        indexes: [SQLIndex("one_open_activation", "user_id", unique: true, where: "state = 'open'")]),
      SQLTable(
        "containers",
        [
          .text("id").primaryKey, .text("user_id").references("users", "id"),
          .text("activation").references("activations", "id"), .blob("device"), .text("name"),
          .text("platform"), .text("keystore"), .blob("session_key"), .blob("encryption_key"),
          .blob("signing_key"), .blob("profile"), .integer("created"), .text("state"),
          .integer("failed_signatures").defaulting(to: 0), .integer("simulated").defaulting(to: 0),
          .text("renews").optional, .integer("renewals").defaulting(to: 0), .text("succession").optional,
          .integer("renewal_wanted").defaulting(to: 0), .text("ended").optional,
          .text("key_origin").optional,
          // The compliance state from `account_states`, copied so that one row suffices.
          .text("standing"), .integer("report_wanted").defaulting(to: 0),
          .blob("code").optional,
        ],
        indexes: [
          SQLIndex("containers_of_user", "user_id, created"),
          SQLIndex("containers_of_activation", "activation"),
          SQLIndex("successors", "renews", where: "state = 'pending'"),
        ]),
      SQLTable(
        "account_states",
        [
          .text("container").primaryKey.references("containers", "id"), .integer("revision"),
          .blob("policies").optional, .integer("ordered_lock"), .text("ordered_reason"), .text("verdict"),
          .text("verdict_reason"), .blob("challenge").optional, .integer("challenge_expires"),
          .text("report").optional, .integer("reported").optional, .blob("code").optional,
        ], isClustered: true),
      SQLTable(
        "account_orders",
        [
          .number("number"), .text("id").unique, .text("container").references("containers", "id"),
          .text("action"), .text("reason"), .integer("created"), .text("receipt").optional,
          .integer("received").optional, .blob("code").optional,
        ],
        indexes: [SQLIndex("account_orders_of_container", "container, number")]),
      SQLTable(
        "push_targets",
        [
          .text("id").primaryKey, .text("container").references("containers", "id"), .text("name"),
          .text("service"), .blob("sealed_target"), .integer("created"),
        ],
        indexes: [SQLIndex("push_targets_of_container", "container")]),
    ]
  }

  func authenticators(
    of account: AccountSnapshot, in database: SQLConnection
  ) throws -> [AuthenticatorRecord] {
    try database.containers(of: account.user).map { container in
      let accountState = try database.accountState(of: container.id)
      let (state, reason) = container.status(lockedBecause: container.isLocked ? accountState.reason : "")
      let code = try database.anyCredential(ID(of: container.id))?.knownUse
      let decision = try database.lastDecision(by: container.id)
      return AuthenticatorRecord(
        id: container.id.text, of: .container(container, accountState),
        device: account.device(called: container.installation)?.id, name: container.name, state: state,
        reason: reason, created: container.created, lastUsed: [code, decision].compactMap(\.self).max())
    }
  }

  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws {
    _ = try database.endActivations(.replaced, "user_id", .of(user))
  }

  func forgetFailures(of user: UserID, in database: SQLConnection) throws {
    _ = try database.execute(
      "UPDATE containers SET failed_signatures = 0 WHERE user_id = $1", [.of(user)])
  }

  func remove(of user: UserRecord, in database: SQLConnection) throws {
    for table in ["push_targets", "account_orders", "account_states"] {
      _ = try database.execute(
        "DELETE FROM \(table) WHERE container IN (SELECT id FROM containers WHERE user_id = $1)",
        [.of(user.id)])
    }
    // The rows are kept, because requests reference them. Their MACs cover the user.
    for var container in try database.containers(of: user.id) {
      container.user = UserID(unchecked: user.subject)
      container.state = .revoked
      container.name = ""
      container.platform = ""
      container.device = []
      container.succession = nil
      try database.update(container)
    }
    database.forgetLastContainer()
  }

  func sweep(at time: Int64, in database: SQLConnection) throws {
    _ = try database.execute(
      "DELETE FROM push_targets WHERE (SELECT state FROM containers WHERE id = container) = 'revoked'")
  }

  // MARK: On devices

  func isBound(to installation: String, of user: UserID, in database: SQLConnection) throws -> Bool {
    // A pending container is bound when it is confirmed.
    try database.containers(of: user, "state NOT IN ('pending', 'revoked')")
      .contains { $0.installation == installation }
  }

  func installations(of user: UserID, in database: SQLConnection) throws -> [String] {
    try database.rows("SELECT DISTINCT device FROM containers WHERE user_id = $1", [.of(user)]) {
      Hex.encode(try $0.blob(0))
    }
  }

  func complianceStates(on device: DeviceRecord, in database: SQLConnection) throws -> [BoundCompliance] {
    try database.containers(on: device.installation, of: device.user).compactMap(\.boundCompliance)
  }

  /// Disables the one-time-password credentials of a user's containers whose rows were altered or removed.
  func disableLocked(_ device: DeviceRecord, in database: SQLConnection) throws {
    for credential in try database.credentials(of: device.user) {
      guard let disabled = credential.held(for: try database.anyContainer(ID(of: credential.id))) else {
        continue
      }
      try database.update(disabled)
    }
  }

  func revoke(
    on installation: String, of user: UserID, at time: Int64, in database: SQLConnection,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws {
    for container in try database.containers(on: installation, of: user) where container.state != .revoked {
      try database.revoke(container)
      try database.appendAudit(lost(.container(container.id)))
    }
  }

  // MARK: Requests

  func canAnswer(
    _ request: TransactionRecord, of user: UserID, _ authenticatorRequests: AuthenticatorRequestRecords?,
    at time: Int64,
    in database: SQLConnection
  ) throws -> Bool {
    try database.answerRules.canAnswer(request, by: database.containers(of: user, "state = 'active'"))
  }

  func isProofInUse(
    _ request: TransactionRecord, of user: UserID, in database: SQLConnection
  ) throws -> Bool? {
    guard let decision = request.decision else { return nil }
    guard let decidedBy = try database.container(decision.container) else { return false }
    return decidedBy.isProofInUse(
      among: try database.containers(of: decidedBy.user, "state = 'active'"))
  }
}
