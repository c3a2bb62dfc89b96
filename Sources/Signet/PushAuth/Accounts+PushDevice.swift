import SignetCrypto
import SignetJSON
public import SignetPushAuth
import SignetVault

extension Accounts {
  /// The name of the record with the push token of this device.
  static let pushDeviceName = "push.device"
  /// The wait before the first retry of a push token update, in seconds; it doubles with each retry, up to one day.
  private static let firstPause: Int64 = 60

  /// Stores a new push token of this device and sends it to all servers.
  ///
  /// The token is on the disk before any server receives it. If a server does not accept it, ``sendPushTokens(whenDue:by:)`` retries.
  ///
  /// - Parameters:
  ///   - target: The token and its push service.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The mechanisms whose servers did not accept it, with the failure.
  /// - Throws: ``SignetError``.
  public func setPushDevice(
    _ target: PushAuthDevice, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> [(mechanism: PushMechanism, failure: SignetError)] {
    let unlocked = try await openOrCreate(by: password)
    try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        try Self.setPushDevice(target, in: &records)
      })
    return try await sendPushTokens(by: password)
  }

  /// Sends the push token to the servers that have not accepted it yet.
  ///
  /// - Parameters:
  ///   - isDue: True to skip servers whose retry wait has not ended; false to try all, for example on a user's request.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The mechanisms whose servers did not accept it, with the failure.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func sendPushTokens(
    whenDue isDue: Bool = true, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> [(mechanism: PushMechanism, failure: SignetError)] {
    guard let unlocked = try await open(by: password) else { return [] }
    let records = try await vaulted(unlocked.openedRecords())
    guard let target = try await vaulted(Self.pushDevice(in: records)) else { return [] }
    var failures: [(mechanism: PushMechanism, failure: SignetError)] = []
    for (id, record) in try await vaulted(Self.mechanisms(in: records))
    where record.isUpdateDue && (!isDue || record.nextUpdate <= device.clock.now) {
      var failure: SignetError?
      do throws(SignetError) {
        try await send(
          PushAuthRequest.update(
            of: record.mechanismID, userID: record.userID, device: target, at: record.endpoints,
            cookie: record.loadBalancer, id: Account.ID(from: device.random).description,
            key: try record.readyKey()))
      } catch { failure = error }
      if let failure {
        failures.append((try await vaulted(PushMechanism(record, id, in: records)), failure))
      }
      let (isAccepted, now) = (failure == nil, device.clock.now)
      try await vaulted(
        await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
          // If the token has changed in the meantime, the new one still has to be sent.
          guard var present = try Self.mechanism(id, in: records), try Self.pushDevice(in: records) == target
          else { return }
          present.isUpdateDue = !isAccepted
          present.updateAttempts = isAccepted ? 0 : min(present.updateAttempts + 1, 30)
          let pause = min(Self.firstPause << min(max(present.updateAttempts - 1, 0), 20), 86_400)
          present.nextUpdate = isAccepted ? 0 : now + pause
          try records.set(PushMechanismRecord.name(id), to: present.bytes)
        })
    }
    return failures
  }

  /// Stores the push token and marks the mechanisms whose servers need it; an unchanged token has no effect.
  ///
  /// - Parameters:
  ///   - target: The push token.
  ///   - records: The records to change.
  ///   - informed: The mechanism whose server already has the token.
  /// - Throws: ``VaultFailure``.
  static func setPushDevice(
    _ target: PushAuthDevice, in records: inout OpenRecords, knownTo informed: Account.ID? = nil
  ) throws(VaultFailure) {
    guard try pushDevice(in: records) != target else { return }
    try records.set(pushDeviceName, to: target.json.recordBytes)
    for (id, var record) in try mechanisms(in: records) where id != informed {
      (record.isUpdateDue, record.updateAttempts, record.nextUpdate) = (true, 0, 0)
      try records.set(PushMechanismRecord.name(id), to: record.bytes)
    }
  }

  static func pushDevice(in records: OpenRecords) throws(VaultFailure) -> PushAuthDevice? {
    guard let secret = try records.secret(pushDeviceName) else { return nil }
    do { return try PushAuthDevice(stored: JSONObject(record: secret)) } catch { throw .damaged }
  }
}
