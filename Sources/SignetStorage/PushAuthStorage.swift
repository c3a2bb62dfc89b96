/// What the push protocol of authenticator apps keeps: mechanisms and messages.
///
/// It is a part of ``Storage``, whose rules hold here too.
public protocol PushAuthStorage: Sendable {
  /// Adds a mechanism whose URI is handed out, and the one-time codes that are in the same URI: both or neither.
  ///
  /// - Parameters:
  ///   - mechanism: The mechanism.
  ///   - codes: A token, whose id is the mechanism's ``PushAuthMechanismRecord/credential``; `nil` for none. It counts from the
  ///     registration on, and goes with the mechanism.
  ///   - audit: The event.
  /// - Throws: ``StorageFailure/unknown`` when there is no such user, ``StorageFailure/exists`` when there is one of this id, or a
  ///   token of this serial number.
  func addPushAuthMechanism(
    _ mechanism: PushAuthMechanismRecord, with codes: CredentialRecord?, audit: AuditRecord
  ) async throws(StorageFailure)
  /// The mechanism of this id; `nil` for none.
  func pushAuthMechanism(_ id: String) async throws(StorageFailure) -> PushAuthMechanismRecord?
  /// The active mechanism that an app calls by this name; `nil` for none.
  func pushAuthMechanism(named name: String) async throws(StorageFailure) -> PushAuthMechanismRecord?
  /// A user's mechanisms, oldest first.
  func pushAuthMechanisms(user: String) async throws(StorageFailure) -> [PushAuthMechanismRecord]
  /// Registers an app, which happens once for each mechanism, in time; its one-time codes count from now on.
  ///
  /// - Parameters:
  ///   - id: The mechanism.
  ///   - name: What the app calls it.
  ///   - sealedDevice: Where its pushes go, encrypted.
  ///   - time: When.
  ///   - audit: The event, written where it is registered.
  /// - Returns: Whether this call registered it.
  /// - Throws: ``StorageFailure/exists`` when another mechanism has this name.
  func registerPushAuthMechanism(
    _ id: String, named name: String, sealedDevice: [UInt8], at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Changes where the pushes of an active mechanism go, unless by a change that was taken before.
  ///
  /// - Parameters:
  ///   - id: The mechanism.
  ///   - sealedDevice: Where its pushes go, encrypted.
  ///   - digest: Names the change, 32 bytes; the last 64 of a mechanism are remembered.
  ///   - audit: The event, written where it is changed.
  /// - Returns: Whether this call changed it.
  /// - Throws: ``StorageFailure``.
  func changePushAuthDevice(_ id: String, sealedDevice: [UInt8], digest: [UInt8], audit: AuditRecord)
    async throws(StorageFailure) -> Bool
  /// Removes a mechanism with its messages and its one-time codes.
  ///
  /// - Returns: Whether there was one.
  func removePushAuthMechanism(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool
  /// Adds a message to an active mechanism, unless so many of its messages wait already.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - limit: The most that may wait.
  ///   - audit: The event, written where it is added.
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure/unknown`` when there is no such active mechanism.
  func addPushAuthMessage(_ message: PushAuthMessageRecord, limit: Int, audit: AuditRecord)
    async throws(StorageFailure) -> Bool
  /// The message of this id; `nil` for none.
  func pushAuthMessage(_ id: String) async throws(StorageFailure) -> PushAuthMessageRecord?
  /// Marks a message that waits, and whose time is over; does nothing to others.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - time: When.
  /// - Throws: ``StorageFailure``.
  func expirePushAuthMessage(_ id: String, at time: Int64) async throws(StorageFailure)
  /// Takes an answer, which happens once, in time; one that comes too late marks the message as expired.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - state: The answer.
  ///   - time: When.
  ///   - audit: The event, written where it is taken.
  /// - Returns: Whether this call answered it.
  /// - Throws: ``StorageFailure``.
  func answerPushAuthMessage(
    _ id: String, _ state: PushAuthMessageRecord.State, at time: Int64, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool
  /// Counts a wrong number; the last one that is allowed ends the message with a no.
  ///
  /// - Parameters:
  ///   - id: The message.
  ///   - limit: How many are allowed.
  ///   - time: When.
  ///   - audit: The event, written where it is counted.
  /// - Returns: How many more are allowed; `nil` where the message does not wait.
  /// - Throws: ``StorageFailure``.
  func countWrongPushAuthNumber(_ id: String, limit: Int, at time: Int64, audit: AuditRecord)
    async throws(StorageFailure) -> Int?
}
