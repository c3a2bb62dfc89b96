/// What ``Storage`` keeps of account policies: how the server stands to each container, what it has ordered, and what devices have
/// reported.
///
/// It is a part of ``Storage``, whose rules hold here too.
public protocol AccountStorage: Sendable {
  /// How the server stands to a container; that of the beginning where nothing was ever said.
  ///
  /// - Returns: The state; `nil` where there is no such container.
  func accountState(of container: String) async throws(StorageFailure) -> AccountStateRecord?
  /// Attaches policies to a container in use, in the place of those of its profile, or of earlier ones.
  ///
  /// - Parameters:
  ///   - policies: Their JSON form; `nil` for those of the profile again.
  ///   - container: The container.
  ///   - audit: The event.
  /// - Returns: Whether there is such a container in use.
  /// - Throws: ``StorageFailure``.
  func setAccountPolicies(
    _ policies: [UInt8]?, of container: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Sets what the next report of a container has to answer, in the place of an earlier challenge.
  func setAccountChallenge(
    _ challenge: [UInt8], expires: Int64, of container: String
  ) async throws(StorageFailure)
  /// Takes a report: its challenge is used up, and what the caller makes of it is written down.
  ///
  /// An order that it leads to is left out where the container is to be deleted already.
  ///
  /// - Parameters:
  ///   - attempt: The report, and what to make of it.
  ///   - audit: Makes the event.
  /// - Returns: Whether its challenge was open; otherwise nothing but the event is written.
  /// - Throws: ``StorageFailure``.
  func takeAccountReport(
    _ attempt: AccountReportAttempt, audit: @escaping @Sendable (Bool) -> AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Adds an order for a container in use; a lock and an unlock count at once for all that the server itself does.
  ///
  /// - Returns: What became of it; the event is written where it was added.
  func addAccountOrder(
    _ order: AccountOrderRecord, audit: AuditRecord
  ) async throws(StorageFailure) -> AccountOrderOutcome
  /// A container's orders, oldest first, those with receipts included.
  func accountOrders(of container: String) async throws(StorageFailure) -> [AccountOrderRecord]
  /// Keeps the receipt for an order; the first one stays. That of a wipe ends the container.
  ///
  /// - Parameters:
  ///   - id: The order.
  ///   - container: Whose it is.
  ///   - receipt: The JWS.
  ///   - time: When it came.
  ///   - audit: The event, written the first time.
  /// - Returns: Whether there is such an order of the container.
  /// - Throws: ``StorageFailure``.
  func receiveAccountOrder(
    _ id: String, of container: String, receipt: String, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
}
