import SignetSQL

/// What storage knows of one kind of authenticators: its tables, and its part in each step that is about all kinds.
///
/// Such a step goes over ``AuthenticatorRecord/Kind/tables`` and names no kind. What only one kind has, such as a code, a decision or a
/// renewal, is a step of that kind, which does not ask here.
protocol AuthenticatorTable: Sendable {
  /// The kind.
  var kind: AuthenticatorRecord.Kind { get }

  /// The tables, each after those that it refers to. They may refer to users and requests, and to no other kind's.
  var tables: [SQLTable] { get }

  /// Queries that an SQLite connection makes once before its first step, to read what that would wait for.
  var preparation: [String] { get }

  /// A query for the user of the authenticator that the kind's events call `$1`; it finds no row where it is bound to none.
  var ownerQuery: String { get }

  /// The authenticators of an account, in any state, also those whose rows were altered.
  func authenticators(of account: AccountReading, in database: SQLConnection) throws -> [AuthenticatorRecord]

  /// Ends what is under way for a user who is suspended or deleted, but for requests, which have ended by then.
  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws

  /// Forgets the user's wrong answers that are counted.
  func forgetFailures(of user: UserID, in database: SQLConnection) throws

  /// Removes what is bound to the account of a user who is deleted. A row that stays is from now on of the subject.
  func remove(of user: UserRecord, in database: SQLConnection) throws

  /// Removes what has expired.
  func sweep(at time: Int64, in database: SQLConnection) throws
}

extension AuthenticatorTable {
  var preparation: [String] { [] }
  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws {}
  func forgetFailures(of user: UserID, in database: SQLConnection) throws {}
  func sweep(at time: Int64, in database: SQLConnection) throws {}
}

/// A kind whose authenticators are on devices.
protocol DeviceBoundTable: AuthenticatorTable {
  /// Whether something that can still be used is bound to a user's device that calls itself so.
  func isBound(to installation: String, of user: UserID, in database: SQLConnection) throws -> Bool

  /// What the devices call themselves that rows of a user name, in any state.
  func installations(of user: UserID, in database: SQLConnection) throws -> [String]

  /// What the kind lets a device do, one for each authenticator that has a say in it.
  func standings(on device: DeviceRecord, in database: SQLConnection) throws -> [BoundStanding]

  /// Takes out of use what a locked device must not have, each time that its row is written.
  func holdLocked(_ device: DeviceRecord, in database: SQLConnection) throws

  /// Ends what is under way on a device that was not locked before.
  func endAtLock(of device: DeviceRecord, at time: Int64, in database: SQLConnection) throws

  /// Revokes what a user has on a device for good; `lost` makes the event of each.
  func revoke(
    on installation: String, of user: UserID, at time: Int64, in database: SQLConnection,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws
}

extension DeviceBoundTable {
  func standings(on device: DeviceRecord, in database: SQLConnection) throws -> [BoundStanding] { [] }
  func holdLocked(_ device: DeviceRecord, in database: SQLConnection) throws {}
  func endAtLock(of device: DeviceRecord, at time: Int64, in database: SQLConnection) throws {}
}

/// A kind whose authenticators answer requests.
protocol AnsweringTable: AuthenticatorTable {
  /// The table of what the server sends to ask a user; `nil` where authenticators have a list of what waits.
  var asks: AskTable? { get }

  /// Whether one of the user's authenticators could ever answer a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - user: The user, who exists.
  ///   - asking: How the user is to be asked; `nil` for a request that was stored with that.
  ///   - time: When: what was sent and is over by then is no way to answer.
  ///   - database: The connection.
  /// - Returns: Whether it could.
  /// - Throws: ``SQLFailure``.
  func canAnswer(
    _ request: TransactionRecord, of user: UserID, _ asking: TransactionAsking?, at time: Int64,
    in database: SQLConnection
  ) throws -> Bool

  /// Adds what is sent to ask a user.
  func add(_ asking: TransactionAsking, in database: SQLConnection) throws

  /// Ends what was sent to ask a user a request that has ended.
  func endAsking(of request: TransactionID, at time: Int64, in database: SQLConnection) throws

  /// Whether what a user accepted a request with is in use, on a device that is not locked; `nil` where another kind answered.
  func isProofInUse(
    _ request: TransactionRecord, of user: UserID, in database: SQLConnection
  ) throws -> Bool?
}

extension AnsweringTable {
  var asks: AskTable? { nil }
  func add(_ asking: TransactionAsking, in database: SQLConnection) throws {}
  func endAsking(of request: TransactionID, at time: Int64, in database: SQLConnection) throws {}
}

/// A table whose rows ask a user: `txn` is the request.
struct AskTable: Sendable {
  var name: String
  /// The condition, in SQL, of the rows that are not answered.
  var openCondition: String
}

/// An account whose authenticators are read.
struct AccountReading {
  var user: UserID
  var devices: [DeviceRecord]
  /// How many wrong codes in a row lock a token.
  var codeAttempts: Int

  /// The user's device that calls itself so.
  func device(called installation: String?) -> DeviceRecord? {
    guard let installation else { return nil }
    return devices.first { $0.installation.utf8.elementsEqual(installation.utf8) }
  }
}

/// What an authenticator lets its device do.
package struct BoundStanding {
  package let standing: ComplianceState
  /// The event of a lock of the device because the row of the authenticator was altered; `nil` where it was not.
  package let altered: AuditEvent?

  /// A standing, with the event where it is a lock because of an altered row.
  package init(_ standing: ComplianceState, altered: AuditEvent? = nil) {
    (self.standing, self.altered) = (standing, altered)
  }
}

// The registry.
extension AuthenticatorRecord.Kind {
  /// What storage knows of the kind: the list of all of them.
  var table: any AuthenticatorTable {
    switch self {
    case .container: ContainerTable()
    case .uaf: UAFTable()
    case .pushApp: PushAppTable()
    case .otp: OTPTable()
    }
  }

  /// All kinds, in the order in which every step goes over them: two that did not agree could wait for each other's rows.
  static let tables = allCases.map(\.table)

  /// Those that are on devices.
  static let boundToDevices = tables.compactMap { $0 as? any DeviceBoundTable }

  /// Those that answer requests.
  static let answering = tables.compactMap { $0 as? any AnsweringTable }

  /// The names of the kind's tables.
  package var tableNames: [String] { table.tables.map(\.name) }
}
