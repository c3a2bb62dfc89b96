package import SignetCrypto
package import SignetPolicy

extension Vault {
  /// Verifies a password; the attempt counts like an attempt to open the domain.
  ///
  /// - Throws: ``VaultFailure``: the cases of ``open(_:of:with:)``, and `silentDomain` if the password cannot be verified.
  package func verifyPassword(
    _ password: consuming SecretBytes, of domain: String, in id: LocalContainerID
  ) throws(VaultFailure) {
    let unlocked = try open(domain, of: id, with: .password(password))
    guard !unlocked.isSilent else { throw .silentDomain(domain) }
  }

  /// Changes the password of a domain, in one transaction.
  ///
  /// The old password is verified first, as a counted attempt; then the age, the rules and the history are checked. The other
  /// slots of the domain stay valid. After a crash at any moment, exactly one of the old and the new password is valid.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - old: The current password: UTF-8 as typed.
  ///   - new: The new password: UTF-8 as typed.
  ///   - policy: The policy for the new password; the caller must check its dictionary.
  /// - Returns: The failure that kept the hardware from counting the change, if any; the password is changed anyway.
  /// - Throws: ``VaultFailure``: the cases of ``open(_:of:with:)``, `passwordTooYoung`, `passwordRefused`, `passwordUsedBefore`,
  ///   `silentDomain`, and `busy` if another process changed the password at the same moment.
  @discardableResult
  package func changePassword(
    of domain: String, in id: LocalContainerID, from old: consuming SecretBytes,
    to new: consuming SecretBytes,
    policy: PasswordPolicy
  ) throws(VaultFailure) -> VaultFailure? {
    let domainID = DomainID(vault: seal.vault, container: id, domain: domain)
    do {
      try requireVerifier(domainID)
      let old = try preparedPassword(old)
      // If the old password is right, a rejection after this line costs no attempt.
      let trial = try tryPassword(old, domainID)
      let now = moment.wallSeconds
      if let times = trial.row.password {
        let earliest = policy.age.earliestChange(of: times.stamp)
        guard times.now(now) >= earliest else { throw VaultFailure.passwordTooYoung(until: earliest) }
      }
      let next = try prepared(new, policy)
      return try trial.masterKey.withSecret { masterKey in
        let history = try newHistory(
          trial.records[PasswordHistory.recordName], trial.row, old: old, new: next, policy, masterKey)
        return try replacePassword(trial.row, with: next, history, masterKey, at: now)
      }
    } catch { throw VaultFailure(error) }
  }

  /// Sets a new password for a domain whose old one is forgotten or locked.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - code: The recovery code; it stays valid.
  ///   - new: The new password: UTF-8 as typed.
  ///   - policy: The policy for the new password, except its minimum age.
  /// - Returns: The failure that kept the hardware from counting the change, if any; the password is set anyway.
  /// - Throws: ``VaultFailure``: `wrongRecoveryCode`, `noSuchSlot`, `passwordRefused`, `passwordUsedBefore`, `busy`.
  @discardableResult
  package func resetPassword(
    of domain: String, in id: LocalContainerID, with code: RecoveryCode, to new: consuming SecretBytes,
    policy: PasswordPolicy
  ) throws(VaultFailure) -> VaultFailure? {
    let unlocked = try open(domain, of: id, with: .recovery(code))
    do {
      let next = try prepared(new, policy)
      let row = try tables.read(id) { try $0.slot(domain, .password) }
      let history = try newHistory(
        unlocked.records[PasswordHistory.recordName], row, old: nil, new: next, policy, unlocked.masterKey)
      return try replacePassword(row, with: next, history, unlocked.masterKey, at: moment.wallSeconds)
    } catch { throw VaultFailure(error) }
  }

  private func requireVerifier(_ domainID: DomainID) throws {
    let row = try tables.read(domainID.container) { try $0.slot(domainID.domain, .password) }
    guard !row.slot.header.isSilent else { throw VaultFailure.silentDomain(domainID.domain) }
  }

  private func prepared(
    _ new: borrowing SecretBytes, _ policy: PasswordPolicy
  ) throws(VaultFailure) -> SharedSecretBox {
    let violations = new.withTemporaryArray { policy.violations(ofUTF8: $0) }
    guard violations.isEmpty else { throw .passwordRefused(violations) }
    return try preparedPassword(new)
  }

  /// Returns the history after a change; rejects a password that is in it.
  ///
  /// With a history of one, only the current password counts, so nothing is stored.
  private func newHistory(
    _ sealed: [UInt8]?, _ row: SlotRow, old: SharedSecretBox?, new: SharedSecretBox, _ policy: PasswordPolicy,
    _ masterKey: borrowing SecretBytes
  ) throws -> [UInt8]? {
    let count = policy.maximumHistory
    guard count > 0, case .password(let cost, _) = row.slot.header.opening else { return nil }
    let reused = VaultFailure.passwordUsedBefore(within: count)
    if let old, old.withSecret({ old in new.withSecret { $0.isEqual(to: old) } }) { throw reused }
    let domainID = row.slot.header.domainID
    var history = PasswordHistory(cost: cost)
    if let sealed {
      let opened = try openHistory(sealed, domainID, masterKey)
      history = opened
    }
    if count > 1,
      try history.contains(
        history.digest(of: new, masterKey: masterKey, settings.derivation), amongLatest: count - 1)
    {
      throw reused
    }
    guard count > 1, let old else {
      return history.digests.isEmpty ? nil : try seal(history, domainID, masterKey)
    }
    history.remember(
      try history.digest(of: old, masterKey: masterKey, settings.derivation), keeping: count - 1)
    return try seal(history, domainID, masterKey)
  }

  private func openHistory(
    _ sealed: [UInt8], _ domainID: DomainID, _ masterKey: borrowing SecretBytes
  ) throws(VaultFailure) -> PasswordHistory {
    let context = domainID.recordContext(PasswordHistory.recordName)
    do {
      let bytes = try AESGCM.openCombinedBytes(sealed, key: masterKey, additionalData: context)
      if let history = PasswordHistory(bytes, floor: settings.insecureCostFloor) { return history }
    } catch {}
    throw .altered(.record(domainID.container, domain: domainID.domain, name: PasswordHistory.recordName))
  }

  private func seal(
    _ history: PasswordHistory, _ domainID: DomainID, _ masterKey: borrowing SecretBytes
  ) throws -> [UInt8] {
    try AESGCM.sealCombined(
      history.bytes, key: masterKey, additionalData: domainID.recordContext(PasswordHistory.recordName))
  }

  /// Replaces a password slot and stores the history, in one transaction.
  ///
  /// - Returns: The failure that kept the hardware from counting the change, if any.
  private func replacePassword(
    _ tried: SlotRow, with password: SharedSecretBox, _ history: [UInt8]?, _ masterKey: borrowing SecretBytes,
    at now: Int64
  ) throws -> VaultFailure? {
    let domainID = tried.slot.header.domainID
    guard case .password(let current, let lock) = tried.slot.header.opening else {
      preconditionFailure("a password slot was tried")
    }
    let uncounted = try storingSlots {
      let slot = try passwordSlot(
        for: masterKey, password, cost: try cost(notBelow: current), lock, domainID)
      return try tables.changeBeforeCounting(domainID.container) { rows in
        let row = try rows.slot(domainID.domain, .password)
        guard row.slot == tried.slot else { throw VaultFailure.busy }
        try rows.store(
          slot, password: PasswordTimes(setAt: row.password?.now(now) ?? now, isInitial: false))
        try rows.forgetMismatches(of: domainID.domain)
        try rows.setRecord(PasswordHistory.recordName, of: domainID.domain, to: history)
      }.uncounted
    }
    forgetReplaced()
    return uncounted
  }
}
