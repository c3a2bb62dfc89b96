import SignetSQL

/// What a server lets a container do.
public enum ComplianceState: String, Hashable, Sendable, CaseIterable {
  /// Everything.
  case open
  /// Everything but one-time codes.
  case stepUp
  /// Nothing but denying, and ending.
  case locked
}

/// How the server stands to a container.
public struct AccountStateRecord: Hashable, Sendable {
  /// Grows with each change that the device has to hear of.
  public var revision: Int64 = 0
  /// The policies that were attached later, as JSON; `nil` where those of the profile count.
  public var policies: [UInt8]?
  /// Whether an operator has locked the container.
  public var isOrderedLocked = false
  /// Why, in the operator's words; may be empty.
  public var orderedReason = ""
  /// What the device's last report came to.
  public var verdict = ComplianceState.open
  /// Why; may be empty.
  public var verdictReason = ""
  /// What the next report has to answer; `nil` where none was asked for.
  public var challenge: [UInt8]?
  /// When the challenge ends.
  public var challengeExpires: Int64 = 0
  /// The last report, a JWS; `nil` for none.
  public var report: String?
  /// When it came.
  public var reported: Int64?
  /// Whether its row is not as this server wrote it, or is gone: never stored.
  package var isAltered = false

  /// The state of the beginning.
  public init() {}

  /// What the container may do: what an operator ordered, or the last report came to.
  public var standing: ComplianceState { isOrderedLocked ? .locked : verdict }
  /// Why, where that is not everything.
  public var reason: String { isOrderedLocked ? orderedReason : verdictReason }
}

/// A report that is to be taken, and what the caller makes of it.
public struct AccountReportAttempt: Hashable, Sendable {
  /// The container that signed it.
  public var container: ContainerID
  /// What it answers.
  public var challenge: [UInt8]
  /// When it came.
  public var time: Int64
  /// The report, a JWS.
  public var report: String
  /// Up to which revision the device has done what the server said.
  public var seen: Int64
  /// What it comes to.
  public var verdict: ComplianceState
  /// Why; may be empty.
  public var reason: String
  /// An order that it leads to; `nil` for none.
  public var order: DeviceCommandRecord?

  /// Describes a report.
  public init(
    container: ContainerID, challenge: [UInt8], time: Int64, report: String, seen: Int64,
    verdict: ComplianceState, reason: String, order: DeviceCommandRecord? = nil
  ) {
    (self.container, self.challenge, self.time, self.report) = (container, challenge, time, report)
    (self.seen, self.verdict, self.reason, self.order) = (seen, verdict, reason, order)
  }
}

/// What became of a command to a container's device.
public enum DeviceCommandOutcome: Hashable, Sendable {
  /// It is there.
  case added
  /// There is no such container in use.
  case notInUse
  /// The container is to be deleted, which its device may have done already; nothing unlocks it any more.
  case toBeWiped
}

/// What a container's device is commanded to do.
public struct DeviceCommandRecord: Hashable, Sendable {
  /// What is to be done.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The container is locked.
    case lock
    /// The lock ends.
    case unlock
    /// The container is deleted with its keys.
    case wipe
  }

  /// Names the order.
  public var id: DeviceCommandID
  /// The container.
  public var container: ContainerID
  /// What is to be done.
  public var action: Action
  /// Why; may be empty.
  public var reason: String
  /// When it was ordered.
  public var created: Int64
  /// The device's signed word that it is done, a JWS; `nil` before that.
  public var receipt: String?
  /// When that came.
  public var received: Int64?
  /// Whether its row is not as this server wrote it: then it is no order.
  public var isAltered = false

  /// Describes an order.
  public init(id: DeviceCommandID, container: ContainerID, action: Action, reason: String, created: Int64) {
    (self.id, self.container, self.action) = (id, container, action)
    (self.reason, self.created) = (reason, created)
  }
}

extension AccountStateRecord {
  static let columns =
    "revision, policies, ordered_lock, ordered_reason, verdict, verdict_reason, challenge, challenge_expires, report, reported, code"

  /// What is believed of a container whose row was altered or removed: an operator who has looked at it ends that by an unlock.
  ///
  /// Nothing of the row is believed, its revision neither: somebody could set one after which the device hears of nothing, or one that it
  /// has passed. What is written next has the time of its step, which is above every revision that changes count up to.
  package static let altered = {
    var state = Self()
    (state.isOrderedLocked, state.orderedReason) = (true, AuditEvent.alteredReason)
    state.isAltered = true
    return state
  }()

  /// Reads the row of a container; one that this server has not written so is that of a locked container.
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
    guard mac.isOwn(image(of: container), try row.optional(10, row.blob)) else {
      self = .altered
      return
    }
  }

  /// What the MAC of a container's row covers: all of it.
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

extension DeviceCommandRecord {
  static let columns =
    "action, id, container, reason, created, receipt, received, code"

  /// Reads a row; if its MAC does not match, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    do { try self.init(reading: row) } catch SQLFailure.unexpectedValue {
      self.init(id: try row.id(1), container: try row.id(2), action: .lock, reason: "", created: 0)
      isAltered = true
    }
    isAltered = try isAltered || !mac.isOwn(image, row.optional(7, row.blob))
    if isAltered { reason = AuditEvent.alteredReason }
  }

  private init(reading row: SQLRow) throws {
    let action: Action = try row.value(0)
    self.init(
      id: try row.id(1), container: try row.id(2), action: action,
      reason: try row.text(3), created: try row.integer(4))
    (receipt, received) = (try row.optional(5, row.text), try row.optional(6, row.integer))
  }

  /// Whether it is to be done, and the device has not said that it is.
  public var isOpen: Bool { receipt == nil && !isAltered }

  /// What its MAC covers: all of it.
  var image: MACInput {
    var image = MACInput("account_orders")
    image.append(id)
    image.append(container)
    image.append(action.rawValue)
    image.append(reason)
    image.append(created)
    image.append(receipt)
    image.append(received)
    return image
  }

  /// The order, where its row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func checked() throws(StorageFailure) -> DeviceCommandRecord {
    guard !isAltered else { throw .altered(row: id.text, of: "account_orders") }
    return self
  }
}

extension SQLConnection {
  /// A container's orders, oldest first, those with receipts included; also those whose rows were altered.
  func deviceCommands(of container: ContainerID) throws -> [DeviceCommandRecord] {
    let mac = try rowMAC
    return try rows(
      "SELECT \(DeviceCommandRecord.columns) FROM account_orders WHERE container = $1 ORDER BY number",
      [.of(container)]
    ) { try DeviceCommandRecord($0, mac) }
  }

  /// Adds a command.
  func insert(_ order: DeviceCommandRecord) throws {
    try execute(
      "INSERT INTO account_orders (id, container, action, reason, created, code) VALUES ($1, $2, $3, $4, $5, $6)",
      [
        .of(order.id), .of(order.container), .text(order.action.rawValue), .text(order.reason),
        .integer(order.created), .optional(rowMAC.mac(of: order.image)),
      ], changing: 1)
  }

  /// Writes what changes of a command, with the MAC of the whole.
  func update(_ order: DeviceCommandRecord) throws {
    try execute(
      "UPDATE account_orders SET container = $1, receipt = $2, received = $3, code = $4 WHERE id = $5",
      [
        .of(order.checked().container), .optional(order.receipt), .optional(order.received),
        .optional(rowMAC.mac(of: order.image)), .of(order.id),
      ], changing: 1)
  }

  /// Writes how the server stands to a container.
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
