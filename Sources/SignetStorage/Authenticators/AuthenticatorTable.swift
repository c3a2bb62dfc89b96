import SignetSQL
import SignetSystem

/// The storage of one kind of authenticators: its tables, and its part of each step that covers all kinds.
///
/// Such a step iterates over ``AuthenticatorRecord/Kind/tables`` and names no kind. Steps that only one kind has, such as a
/// code, a decision or a renewal, do not use this protocol.
protocol AuthenticatorTable: Sendable {
  /// The kind.
  var kind: AuthenticatorRecord.Kind { get }

  /// The tables, each after those that it references. They may reference users and requests, but no table of another kind.
  var tables: [SQLTable] { get }

  /// Queries that an SQLite connection runs once before its first step, to load data for which that step would wait.
  var preparation: [String] { get }

  /// A query for the user of an authenticator, by the id `$1` that the kind's events use; it finds no row if the
  /// authenticator is not assigned.
  var ownerQuery: String { get }

  /// Returns the authenticators of an account in any state, including those whose row MAC does not verify.
  func authenticators(of account: AccountSnapshot, in database: SQLConnection) throws -> [AuthenticatorRecord]

  /// Ends the pending operations of a user who is suspended or deleted, except requests, which have ended by then.
  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws

  /// Resets the counts of the user's wrong answers.
  func forgetFailures(of user: UserID, in database: SQLConnection) throws

  /// Removes everything that is bound to the account of a deleted user. A row that is kept belongs to the subject from then on.
  func remove(of user: UserRecord, in database: SQLConnection) throws

  /// Removes expired rows.
  func sweep(at time: Int64, in database: SQLConnection) throws
}

extension AuthenticatorTable {
  var preparation: [String] { [] }
  func endAtSuspension(of user: UserID, at time: Int64, in database: SQLConnection) throws {}
  func forgetFailures(of user: UserID, in database: SQLConnection) throws {}
  func sweep(at time: Int64, in database: SQLConnection) throws {}
}

/// A kind of authenticators that are bound to devices.
protocol DeviceBoundTable: AuthenticatorTable {
  /// Returns `true` if something usable is bound to the user's device with this installation id.
  func isBound(to installation: String, of user: UserID, in database: SQLConnection) throws -> Bool

  /// Returns the installation ids of the devices that rows of a user name, in any state.
  func installations(of user: UserID, in database: SQLConnection) throws -> [String]

  /// Returns the kind's limits on the compliance state of a device, one for each authenticator that has one.
  func complianceStates(on device: DeviceRecord, in database: SQLConnection) throws -> [BoundCompliance]

  /// Disables everything that a locked device must not have; called each time that the device's row is written.
  func disableLocked(_ device: DeviceRecord, in database: SQLConnection) throws

  /// Ends the pending operations on a device that becomes locked.
  func endAtLock(of device: DeviceRecord, at time: Int64, in database: SQLConnection) throws

  /// Revokes everything of the kind that a user has on a device, permanently; `lost` makes the event of each.
  func revoke(
    on installation: String, of user: UserID, at time: Int64, in database: SQLConnection,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws
}

extension DeviceBoundTable {
  func complianceStates(on device: DeviceRecord, in database: SQLConnection) throws -> [BoundCompliance] {
    []
  }
  func disableLocked(_ device: DeviceRecord, in database: SQLConnection) throws {}
  func endAtLock(of device: DeviceRecord, at time: Int64, in database: SQLConnection) throws {}
}

/// A kind of authenticators that answer requests.
protocol AnsweringTable: AuthenticatorTable {
  /// The table of the messages that ask a user; `nil` if the authenticators can list pending requests.
  var messageTable: MessageTable? { get }

  /// Determines if one of the user's authenticators could ever answer a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - user: The user, who exists.
  ///   - authenticatorRequests: The way in which the user is to be asked; `nil` for a request that is already stored.
  ///   - time: The current time; a message that has expired by then does not count.
  ///   - database: The connection.
  /// - Returns: `true` if one could.
  /// - Throws: ``SQLFailure``.
  func canAnswer(
    _ request: TransactionRecord, of user: UserID, _ authenticatorRequests: AuthenticatorRequestRecords?,
    at time: Int64,
    in database: SQLConnection
  ) throws -> Bool

  /// Adds the messages that ask a user.
  func add(_ authenticatorRequests: AuthenticatorRequestRecords, in database: SQLConnection) throws

  /// Ends the messages that ask a user about a request that has ended.
  func endMessages(of request: TransactionID, at time: Int64, in database: SQLConnection) throws

  /// Returns `true` if the authenticator that accepted a request is active, on a device that is not locked; `nil` if another
  /// kind answered.
  func isProofInUse(
    _ request: TransactionRecord, of user: UserID, in database: SQLConnection
  ) throws -> Bool?
}

extension AnsweringTable {
  var messageTable: MessageTable? { nil }
  func add(_ authenticatorRequests: AuthenticatorRequestRecords, in database: SQLConnection) throws {}
  func endMessages(of request: TransactionID, at time: Int64, in database: SQLConnection) throws {}
}

/// A table whose rows ask a user about a request; the column `txn` is the request.
struct MessageTable: Sendable {
  var name: String
  /// The SQL condition for rows that are not answered.
  var openCondition: String
}

/// An account whose authenticators are read.
struct AccountSnapshot {
  var user: UserID
  var devices: [DeviceRecord]
  /// The number of consecutive wrong codes that locks a token.
  var codeAttempts: Int

  /// Returns the user's device with this installation id.
  func device(called installation: String?) -> DeviceRecord? {
    guard let installation else { return nil }
    return devices.first { $0.installation.hasSameBytes(as: installation) }
  }
}

/// The compliance state that an authenticator allows for its device.
package struct BoundCompliance {
  package let compliance: ComplianceState
  /// The event of a device lock that is caused by an altered row of the authenticator; `nil` otherwise.
  package let altered: AuditEvent?

  /// Creates a limit, with the event if an altered row causes a lock.
  package init(_ compliance: ComplianceState, altered: AuditEvent? = nil) {
    (self.compliance, self.altered) = (compliance, altered)
  }
}

// The registry of kinds.
extension AuthenticatorRecord.Kind {
  /// The storage of the kind.
  var table: any AuthenticatorTable {
    switch self {
    case .container: ContainerTable()
    case .uaf: UAFTable()
    case .pushApp: PushAppTable()
    case .otp: OTPTable()
    }
  }

  /// The storage of all kinds, in the order in which every step iterates: a different order in two steps could cause a deadlock.
  static let tables = allCases.map(\.table)

  /// The kinds whose authenticators are bound to devices.
  static let boundToDevices = tables.compactMap { $0 as? any DeviceBoundTable }

  /// The kinds whose authenticators answer requests.
  static let answering = tables.compactMap { $0 as? any AnsweringTable }

  /// The names of the kind's tables.
  package var tableNames: [String] { table.tables.map(\.name) }
}
