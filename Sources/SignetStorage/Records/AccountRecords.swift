import SignetSQL

/// The compliance state of a container: the operations that the server accepts from it.
package enum ComplianceState: String, Hashable, Sendable, CaseIterable {
  /// All operations.
  case open
  /// All operations except one-time passwords.
  case stepUp
  /// Only denials, and ending the container.
  case locked
}

/// The server's state of a container: its lock, its policies and its last report.
package struct AccountStateRecord: Hashable, Sendable {
  /// Increases with each change that the device has to learn.
  package var revision: Int64 = 0
  /// The policies that were attached later, as JSON; `nil` if those of the profile apply.
  package var policies: [UInt8]?
  /// Indicates whether an operator has locked the container.
  package var isOrderedLocked = false
  /// The reason of that lock, in the operator's words; may be empty.
  package var orderedReason = ""
  /// The compliance state that results from the device's last report.
  package var verdict = ComplianceState.open
  /// The reason of the verdict; may be empty.
  package var verdictReason = ""
  /// The challenge that the next report has to answer; `nil` for none.
  package var challenge: [UInt8]?
  /// When the challenge expires.
  package var challengeExpires: Int64 = 0
  /// The last report, a JWS; `nil` for none.
  package var report: String?
  /// When it arrived, in seconds since 1970.
  package var reported: Int64?
  /// Indicates whether its row is missing or its MAC does not verify; never stored.
  package var isAltered = false

  /// Makes the state of a new container.
  package init() {}

  /// The container's compliance state: locked if an operator ordered it, otherwise the result of the last report.
  package var compliance: ComplianceState { isOrderedLocked ? .locked : verdict }
  /// The reason of the compliance state, unless it is open.
  package var reason: String { isOrderedLocked ? orderedReason : verdictReason }
}

/// A report with the caller's evaluation.
package struct AccountReportAttempt: Hashable, Sendable {
  /// The container that signed it.
  package var container: ContainerID
  /// The challenge that it answers.
  package var challenge: [UInt8]
  /// When it arrived.
  package var time: Int64
  /// The report, a JWS.
  package var report: String
  /// The revision up to which the device has carried out the server's state.
  package var seen: Int64
  /// The resulting compliance state.
  package var verdict: ComplianceState
  /// The reason of the verdict; may be empty.
  package var reason: String
  /// An order that results from it; `nil` for none.
  package var order: DeviceCommandRecord?

  /// Describes a report.
  package init(
    container: ContainerID, challenge: [UInt8], time: Int64, report: String, seen: Int64,
    verdict: ComplianceState, reason: String, order: DeviceCommandRecord? = nil
  ) {
    self.container = container
    self.challenge = challenge
    self.time = time
    self.report = report
    self.seen = seen
    self.verdict = verdict
    self.reason = reason
    self.order = order
  }
}

/// The outcome of a command to a container's device.
package enum DeviceCommandOutcome: Hashable, Sendable {
  /// It was added.
  case added
  /// There is no such active container.
  case notInUse
  /// The container has an order to be wiped, which its device may have carried out already; an unlock is rejected.
  case toBeWiped
}

/// A command to a container's device.
package struct DeviceCommandRecord: Hashable, Sendable {
  /// The action of a command.
  package enum Action: String, Hashable, Sendable, CaseIterable {
    /// Lock the container.
    case lock
    /// End the lock.
    case unlock
    /// Delete the container with its keys.
    case wipe
  }

  /// The id of the order.
  package var id: DeviceCommandID
  /// The container.
  package var container: ContainerID
  /// The action.
  package var action: Action
  /// The reason; may be empty.
  package var reason: String
  /// When it was ordered.
  package var created: Int64
  /// The device's signed receipt, a JWS; `nil` before it arrives.
  package var receipt: String?
  /// When the receipt arrived.
  package var received: Int64?
  /// Indicates whether its row's MAC does not verify: then it is not a valid order.
  package var isAltered = false

  /// Describes an order.
  package init(id: DeviceCommandID, container: ContainerID, action: Action, reason: String, created: Int64) {
    self.id = id
    self.container = container
    self.action = action
    self.reason = reason
    self.created = created
  }
}

extension AccountStateRecord {
  static let columns =
    "revision, policies, ordered_lock, ordered_reason, verdict, verdict_reason, challenge, challenge_expires, report, reported, code"

  /// The state of a container whose row was altered or removed: locked, until an operator has examined it and unlocks the container.
  ///
  /// Nothing of the row is trusted, not even its revision. An attacker with write access could set one that the device has
  /// passed, or one so high that the device would learn of no change. The next change writes the time of its step, which is
  /// above every revision that counting changes can reach.
  package static let altered = {
    var state = Self()
    (state.isOrderedLocked, state.orderedReason) = (true, AuditEvent.alteredReason)
    state.isAltered = true
    return state
  }()

  /// Reads the row of a container; if its MAC does not verify, the state is locked.
  init(_ row: SQLRow, of container: ContainerID, _ mac: RowMAC) throws {
    do { try self.init(reading: row, of: container, mac) } catch SQLFailure.unexpectedValue {
      self = .altered
    }
  }

  private init(reading row: SQLRow, of container: ContainerID, _ mac: RowMAC) throws {
    self.init()
    revision = try row.integer(0)
    policies = try row.optional(1, row.blob)
    (isOrderedLocked, orderedReason) = (
      try row.bool(2), try row.text(3)
    )
    (verdict, verdictReason) = (try row.value(4), try row.text(5))
    (challenge, challengeExpires) = (
      try row.optional(6, row.blob), try row.integer(7)
    )
    (report, reported) = (try row.optional(8, row.text), try row.optional(9, row.integer))
    guard mac.matches(image(of: container), try row.optional(10, row.blob)) else {
      self = .altered
      return
    }
  }

  /// The input of the row's MAC: all columns.
  func image(of container: ContainerID) -> MACInput {
    var image = MACInput("account_states")
    image.append(container)
    image.append(revision)
    image.append(policies)
    image.append(isOrderedLocked ? 1 : 0)
    image.append(orderedReason)
    image.append(verdict.rawValue)
    image.append(verdictReason)
    image.append(challenge)
    image.append(challengeExpires)
    image.append(report)
    image.append(reported)
    return image
  }
}

extension DeviceCommandRecord: StoredRecord, AlterableRecord {
  package static let table = "account_orders"
  static let columns =
    "action, id, container, reason, created, receipt, received, code"

  /// Reads a row; if its MAC does not verify, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    do { try self.init(reading: row) } catch SQLFailure.unexpectedValue {
      self.init(id: try row.id(1), container: try row.id(2), action: .lock, reason: "", created: 0)
      isAltered = true
    }
    isAltered = try isAltered || !mac.matches(image, row.optional(7, row.blob))
    if isAltered { reason = AuditEvent.alteredReason }
  }

  private init(reading row: SQLRow) throws {
    let action: Action = try row.value(0)
    self.init(
      id: try row.id(1), container: try row.id(2), action: action,
      reason: try row.text(3), created: try row.integer(4))
    (receipt, received) = (try row.optional(5, row.text), try row.optional(6, row.integer))
  }

  /// Indicates whether it is valid and has no receipt yet.
  package var isOpen: Bool { receipt == nil && !isAltered }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(container)
    image.append(action.rawValue)
    image.append(reason)
    image.append(created)
    image.append(receipt)
    image.append(received)
    return image
  }
}

extension SQLConnection {
  /// Returns a container's orders, oldest first, including those with receipts and those whose row MAC does not verify.
  func deviceCommands(of container: ContainerID) throws -> [DeviceCommandRecord] {
    try records("WHERE container = $1 ORDER BY number", [.of(container)])
  }

  func insert(_ order: DeviceCommandRecord) throws {
    try insert(
      into: DeviceCommandRecord.table,
      "id, container, action, reason, created, code",
      [
        .of(order.id), .of(order.container), .text(order.action.rawValue), .text(order.reason),
        .integer(order.created), .optional(rowMAC.mac(of: order.image)),
      ])
  }

  /// Writes the columns of an order that can change, and the MAC of the row.
  func update(_ order: DeviceCommandRecord) throws {
    try execute(
      "UPDATE account_orders SET container = $1, receipt = $2, received = $3, code = $4 WHERE id = $5",
      [
        .of(order.checked().container), .optional(order.receipt), .optional(order.received),
        .optional(rowMAC.mac(of: order.image)), .of(order.id),
      ], changing: 1)
  }

  /// Writes the server's state of a container.
  func write(_ state: AccountStateRecord, of container: ContainerID) throws {
    try execute(
      """
      INSERT INTO account_states (container, revision, policies, ordered_lock, ordered_reason, verdict,
        verdict_reason, challenge, challenge_expires, report, reported, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (container) DO UPDATE SET revision = excluded.revision, policies = excluded.policies,
          ordered_lock = excluded.ordered_lock, ordered_reason = excluded.ordered_reason,
          verdict = excluded.verdict, verdict_reason = excluded.verdict_reason, challenge = excluded.challenge,
          challenge_expires = excluded.challenge_expires, report = excluded.report, reported = excluded.reported,
          code = excluded.code
      """,
      [
        .of(container), .integer(state.revision), .optional(state.policies),
        .int(state.isOrderedLocked ? 1 : 0), .text(state.orderedReason), .text(state.verdict.rawValue),
        .text(state.verdictReason), .optional(state.challenge), .integer(state.challengeExpires),
        .optional(state.report), .optional(state.reported),
        .optional(rowMAC.mac(of: state.image(of: container))),
      ], changing: 1)
  }
}
