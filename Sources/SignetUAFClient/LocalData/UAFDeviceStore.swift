import SignetCrypto
import SignetVault

/// The storage of the device state for UAF servers in the vault; several processes may use it at once.
package struct UAFDeviceStore: Sendable {
  let device: Device

  private static let record = "information"

  /// Reads the state; `nil` before the first registration and after the last authenticator was removed.
  package func state() async throws(SignetError) -> UAFDeviceState? {
    guard let unlocked = try await opened() else { return nil }
    return try await vaulted(Self.state(in: unlocked.openedRecords()))
  }

  /// Stores an account with new keys before the server receives anything; an existing account is left unchanged.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - new: The information about this device, used if none is stored.
  /// - Returns: The stored state.
  /// - Throws: ``SignetError``.
  func begin(
    _ account: UAFAccount, _ new: UAFNewDevice
  ) async throws(SignetError) -> UAFDeviceState {
    if let present = try await state(), present[account.username] != nil { return present }
    _ = try await vaulted(await device.vault.makeUAFDeviceContainer(created: device.clock.now * 1000))
    guard let unlocked = try await opened() else { throw .noSuchContainer }
    let signing = try await vaulted(await device.vault.makeSigningKey())
    let encryption = P256.KeyAgreement.PrivateKey()
    // The same ID as in containers, so that a server sees one device.
    let id = device.vault.deviceID.description
    return try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        var state =
          try Self.state(in: records)
          ?? UAFDeviceState(deviceID: id, name: new.name, pushToken: new.pushToken)
        guard state[account.username] == nil else { return state }
        let number = (state.accounts.map(\.keys).max() ?? 0) + 1
        try signing.record.withSecret { (secret) throws(VaultFailure) in
          try records.set(Self.signingRecord(number), to: secret)
        }
        try records.set(Self.encryptionRecord(number), to: encryption.rawRepresentation)
        state[account.username] = UAFDeviceState.Account(account: account, keys: number, target: nil)
        try records.set(Self.record, to: SecretBytes(copying: state.bytes))
        return state
      })
  }

  /// Changes the state; without a stored state nothing happens.
  func change(_ body: @Sendable (inout UAFDeviceState) -> Void) async throws(SignetError) {
    guard let unlocked = try await opened() else { return }
    try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard var state = try Self.state(in: records) else { return }
        let before = state
        body(&state)
        if state != before { try records.set(Self.record, to: SecretBytes(copying: state.bytes)) }
      })
  }

  /// Deletes an account and its keys; after the last account, the whole state is deleted.
  func forget(_ username: String) async throws(SignetError) {
    guard let unlocked = try await opened() else { return }
    let isEmpty = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard var state = try Self.state(in: records) else { return true }
        if let account = state[username] {
          records.remove(Self.signingRecord(account.keys))
          records.remove(Self.encryptionRecord(account.keys))
          state[username] = nil
          try records.set(Self.record, to: SecretBytes(copying: state.bytes))
        }
        return state.accounts.isEmpty
      })
    guard isEmpty, let id = try await vaulted(await device.vault.uafDeviceContainer()) else { return }
    try await vaulted(await device.vault.deleteContainer(id))
  }

  /// The key that signs an account's requests.
  func signingKey(_ account: UAFDeviceState.Account) async throws(SignetError) -> ContainerSigningKey {
    guard let unlocked = try await opened() else { throw .noSuchContainer }
    return try unlocked.signingKey(Self.signingRecord(account.keys), in: device.vault)
  }

  /// The key that decrypts messages for an account.
  func encryptionKey(
    _ account: UAFDeviceState.Account
  ) async throws(SignetError) -> P256.KeyAgreement.PrivateKey {
    guard let unlocked = try await opened() else { throw .noSuchContainer }
    return try unlocked.agreementKey(Self.encryptionRecord(account.keys))
  }

  // MARK: Records

  private func opened() async throws(SignetError) -> UnlockedDomain? {
    guard let id = try await vaulted(await device.vault.uafDeviceContainer()) else { return nil }
    do throws(VaultFailure) {
      return try await device.vault.open(Vault.uafDeviceDomain, of: id, with: .device)
    } catch {
      // Another process may just have deleted the last account.
      if case .noSuchContainer = error { return nil }
      throw SignetError(error)
    }
  }

  private static func signingRecord(_ number: Int64) -> String { "sign-\(number)" }
  private static func encryptionRecord(_ number: Int64) -> String { "encrypt-\(number)" }

  private static func state(in records: OpenRecords) throws(VaultFailure) -> UAFDeviceState? {
    guard let secret = try records.secret(record) else { return nil }
    var bytes: [UInt8] = []
    secret.withUInt8Span { span in for index in span.indices { bytes.append(span[index]) } }
    do { return try UAFDeviceState(parsing: bytes) } catch { throw .damaged }
  }
}
