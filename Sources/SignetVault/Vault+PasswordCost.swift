import SignetCrypto
import SignetPolicy

extension Vault {
  /// The key derivation cost of a new slot.
  func passwordCost() throws -> Argon2id {
    switch settings.cost {
    case .fixed(let cost):
      guard PasswordCost.accepts(cost, floor: settings.insecureCostFloor) else {
        throw VaultFailure.costOutOfRange(cost)
      }
      return cost
    case .calibrated(let milliseconds):
      if let calibratedCost { return calibratedCost }
      let cost = try settings.calibrate(milliseconds)
      calibratedCost = cost
      return cost
    }
  }

  /// The number of guesses that the keystore allows; `nil` if it cannot count or the policy sets no limit.
  func guessLimit(_ policy: LockPolicy) -> Int? {
    keystore is any GuessLimitingKeystore ? policy.limit : nil
  }

  /// Replaces the opened slot by a better one if possible: one of the current version, or with a higher cost.
  ///
  /// If no better slot can be made now, the current one stays.
  ///
  /// - Returns: The slot that opens the domain from now on. `nil` if another process replaced it first, so that it must be
  ///   tried again.
  func renewedSlot(_ trial: PasswordTrial, _ password: SharedSecretBox) -> ProtectionSlot? {
    let opened = trial.row.slot
    let domainID = opened.header.domainID
    do {
      let (slot, isRenewed): (ProtectionSlot?, Bool) = try storingSlots {
        guard let better = try betterSlot(trial, password) else { return (opened, false) }
        // An attempt counted in the current row would stay counted in the new one.
        let isStored = try withAttemptLock {
          try tables.changeBeforeCounting(domainID.container) { rows in
            let row = try rows.slot(domainID.domain, .password)
            guard row.slot == opened else { return false }
            try rows.store(better, attempts: row.attempts, password: row.password)
            return true
          }.result
        }
        return (isStored ? better.slot : nil, true)
      }
      if isRenewed { forgetReplaced() }
      return slot
    } catch { return opened }
  }

  /// A better slot for the same password; `nil` if there is none.
  ///
  /// Measuring the machine takes a second, so it is done only if the derivation took less than half of its target. No part
  /// of the cost ever decreases.
  private func betterSlot(_ trial: PasswordTrial, _ password: SharedSecretBox) throws -> NewSlot? {
    let header = trial.row.slot.header
    guard trial.silent == nil, case .password(let current, let lock) = header.opening else { return nil }
    let better = try betterCost(than: current, afterDerivationOf: trial.derivation)
    guard better != nil || header.version < SlotHeader.currentVersion || header.guessLimit != guessLimit(lock)
    else { return nil }
    return try trial.masterKey.withSecret {
      try passwordSlot(for: $0, password, cost: better ?? current, lock, header.domainID)
    }
  }

  /// A password slot with a new salt and a new hardware secret.
  func passwordSlot(
    for masterKey: borrowing SecretBytes, _ password: SharedSecretBox, cost: Argon2id, _ lock: LockPolicy,
    _ domainID: DomainID
  ) throws -> NewSlot {
    let header = SlotHeader(
      keystore: keystore.kind, opening: .password(cost, lock), guessLimit: guessLimit(lock),
      salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), domainID: domainID)
    let derived = SharedSecretBox(
      try password.withSecret { try header.derive($0, settings.derivation) })
    return try newSlot(
      masterKey, header: header, derived: derived,
      hardwareSecret: .random(byteCount: ProtectionSlot.keyByteCount))
  }

  /// The cost for a slot that replaces another; never lower than the current one.
  func cost(notBelow current: Argon2id) throws -> Argon2id {
    let cost = try passwordCost()
    return cost.isAbove(current) ? cost : current
  }

  private func betterCost(than current: Argon2id, afterDerivationOf duration: Duration) throws -> Argon2id? {
    if case .calibrated(let milliseconds) = settings.cost, duration >= .milliseconds(milliseconds) / 2 {
      return nil
    }
    let cost = try passwordCost()
    return cost.isAbove(current) ? cost : nil
  }
}

extension Argon2id {
  /// Returns true if at least one part is higher and none is lower.
  func isAbove(_ other: Argon2id) -> Bool {
    self != other && memoryKiB >= other.memoryKiB && passes >= other.passes && lanes >= other.lanes
  }
}
