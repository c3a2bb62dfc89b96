import SignetCrypto
import SignetJSON
public import SignetPushAuth
import SignetVault

extension Accounts {
  /// The record that says where pushes for this device go.
  static let pushDeviceName = "push.device"
  /// The first pause before a token is told again, in seconds; it doubles up to a day.
  private static let firstPause: Int64 = 60

  /// Says where pushes for this device go from now on, and tells all servers.
  ///
  /// It is on the disk before any server is told; those that did not take it are told again by ``sendPushTokens(by:)``.
  ///
  /// - Parameters:
  ///   - target: The token of the push service, and which one it is.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: The mechanisms whose servers did not take it, with the reason.
  /// - Throws: ``SignetFailure``.
  public func setPushDevice(
    _ target: PushAuthDevice, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> [(mechanism: PushMechanism, failure: SignetFailure)] {
    let unlocked = try await openMaking(by: password)
    try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        try Self.setPushDevice(target, in: &records)
      })
    return try await sendPushTokens(by: password)
  }

  /// Tells servers the device token that did not take it before, where it is time to try again.
  ///
  /// - Parameters:
  ///   - isDue: Whether only where it is time; else now, as where a user asks for it.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: The mechanisms whose servers did not take it, with the reason.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  public func sendPushTokens(
    whenDue isDue: Bool = true, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> [(mechanism: PushMechanism, failure: SignetFailure)] {
    guard let unlocked = try await open(by: password) else { return [] }
    let records = try await vaulted(unlocked.openedRecords())
    guard let target = try await vaulted(Self.pushDevice(in: records)) else { return [] }
    var failures: [(mechanism: PushMechanism, failure: SignetFailure)] = []
    for (id, record) in try await vaulted(Self.mechanisms(in: records))
    where record.isUpdateDue && (!isDue || record.nextUpdate <= device.clock.now) {
      var failure: SignetFailure?
      do throws(SignetFailure) {
        try await send(
          PushAuthRequest.update(
            of: record.mechanismID, userID: record.userID, device: target, at: record.endpoints,
            cookie: record.loadBalancer, id: Account.ID(from: device.random).description,
            key: try record.readyKey()))
      } catch { failure = error }
      if let failure {
        failures.append((try await vaulted(PushMechanism(record, id, in: records)), failure))
      }
      let (isTaken, now) = (failure == nil, device.clock.now)
      try await vaulted(
        await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
          // A newer token is due all the same.
          guard var present = try Self.mechanism(id, in: records), try Self.pushDevice(in: records) == target
          else { return }
          present.isUpdateDue = !isTaken
          present.updateAttempts = isTaken ? 0 : min(present.updateAttempts + 1, 30)
          let pause = min(Self.firstPause << min(max(present.updateAttempts - 1, 0), 20), 86_400)
          present.nextUpdate = isTaken ? 0 : now + pause
          try records.set(PushMechanismRecord.name(id), to: present.bytes)
        })
    }
    return failures
  }

  /// Notes where pushes go from now on, and whose servers have to be told; nothing changes where that is known.
  ///
  /// - Parameters:
  ///   - target: Where pushes go.
  ///   - records: What is changed.
  ///   - knowing: The mechanism whose server knows already.
  /// - Throws: ``VaultFailure``.
  static func setPushDevice(
    _ target: PushAuthDevice, in records: inout OpenRecords, knownTo knowing: Account.ID? = nil
  ) throws(VaultFailure) {
    guard try pushDevice(in: records) != target else { return }
    try records.set(pushDeviceName, to: target.json.recordBytes)
    for (id, var record) in try mechanisms(in: records) where id != knowing {
      (record.isUpdateDue, record.updateAttempts, record.nextUpdate) = (true, 0, 0)
      try records.set(PushMechanismRecord.name(id), to: record.bytes)
    }
  }

  static func pushDevice(in records: OpenRecords) throws(VaultFailure) -> PushAuthDevice? {
    guard let secret = try records.secret(pushDeviceName) else { return nil }
    do { return try PushAuthDevice(stored: JSONObject(record: secret)) } catch { throw .damaged }
  }
}
