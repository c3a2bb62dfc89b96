import SignetCrypto
import SignetPolicy

/// A password that was tried and is right; in a silent domain it may be wrong.
struct PasswordTrial {
  let row: SlotRow
  let masterKey: SharedSecretBox
  /// `nil` unless the domain is silent; then the password may be wrong.
  let silent: SilentSealing?
  /// The records of the domain at the time of the attempt.
  let records: [String: [UInt8]]
  let derivation: Duration
}

extension Vault {
  /// Tries a password.
  ///
  /// The key derivation comes first; it is slow and counts nothing. A short exclusive step follows: count the attempt on the
  /// disk and in hardware that counts, make it, and reset the count after a success. So every attempt is counted. If the
  /// process is killed in that step, the attempt stays counted. A silent domain has no count.
  ///
  /// - Throws: ``VaultFailure``: `wrongPassword`, `waiting`, `lockedOut`, `wiped`.
  func tryPassword(_ password: SharedSecretBox, _ domainID: DomainID) throws -> PasswordTrial {
    while true {
      let row = try requireAllowed(domainID)
      let (slot, header) = (row.slot, row.slot.header)
      try requireKeystore(of: slot)
      let beforeDerivation = ContinuousClock.now
      let derived = SharedSecretBox(try password.withSecret { try header.derive($0, settings.derivation) })
      let derivation = beforeDerivation.duration(to: .now)
      if header.isSilent { return try silentTrial(row, derived, derivation) }
      let guess =
        if header.guessLimit != nil, let limiting = keystore as? any GuessLimitingKeystore {
          PasswordGuess(slot, derived, .compared(limiting))
        } else {
          PasswordGuess(slot, derived, .released(SharedSecretBox(try hardwareSecret(of: slot))))
        }
      switch try withAttemptLock({ try attempt(guess) }) {
      case .right(let row, let masterKey, let records):
        return PasswordTrial(
          row: row, masterKey: masterKey, silent: nil, records: records, derivation: derivation)
      case .refused(let failure):
        if case .wiped = failure { forgetReplaced() }
        throw failure
      case .replaced: continue  // ends: only a process that opened the domain replaces the slot
      }
    }
  }

  /// The result in a silent domain, which any password opens.
  private func silentTrial(
    _ row: SlotRow, _ derived: SharedSecretBox, _ derivation: Duration
  ) throws -> PasswordTrial {
    let domainID = row.slot.header.domainID
    let secret = try hardwareSecret(of: row.slot)
    guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: derived) else {
      throw VaultFailure.altered(.slot(domainID.container, domain: domainID.domain))
    }
    return PasswordTrial(
      row: row, masterKey: SharedSecretBox(masterKey),
      silent: SilentSealing(hardwareSecret: secret, domainID: domainID),
      records: try tables.read(domainID.container) { try $0.records(of: domainID.domain) },
      derivation: derivation)
  }

  /// Returns the slot of a domain; rejects an attempt before the derivation if the domain waits or is locked.
  ///
  /// A pending wipe is done later, under the attempt lock.
  private func requireAllowed(_ domainID: DomainID) throws -> SlotRow {
    let (row, decision) = try decided(
      unless: { $0.1.isAllowed },
      {
        let row = try tables.read(domainID.container) { try $0.slot(domainID.domain, .password) }
        let policy = row.slot.header.lockPolicy
        let isWaiting = policy.wait(afterFailure: row.attempts.failedCount) > 0
        return (row, policy.decision(after: row.attempts, at: isWaiting ? try waitInstant() : moment.boot))
      })
    switch decision {
    case .allowed, .wipe: return row
    case .wait(let wait, let remaining): throw VaultFailure.waiting(wait, remaining: remaining)
    case .lockedOut: throw VaultFailure.lockedOut
    }
  }

  private enum Attempt {
    case right(SlotRow, masterKey: SharedSecretBox, records: [String: [UInt8]])
    case refused(VaultFailure)
    /// The slot was replaced by another process, so the derived key is not comparable.
    case replaced
  }

  /// Counts an attempt, makes it, and resets the count if it succeeded.
  ///
  /// - Precondition: The attempt lock is held.
  private func attempt(_ guess: PasswordGuess) throws -> Attempt {
    switch try count(guess) {
    case (.counted(let row, let before, let records), let uncounted):
      switch try test(guess, row, before, uncounted) {
      case .right(let masterKey):
        return try confirm(row) ? .right(row, masterKey: masterKey, records: records) : .replaced
      case .wrong(let remaining): return .refused(try refusal(row, hardwareAllows: remaining))
      }
    case (.refused(let failure), _): return .refused(failure)
    case (.replaced, _): return .replaced
    }
  }

  /// Makes a counted attempt; if it cannot be made, restores the count.
  private func test(
    _ guess: PasswordGuess, _ row: SlotRow, _ before: AttemptState, _ uncounted: VaultFailure?
  ) throws -> PasswordGuess.Result {
    do {
      if let uncounted { throw uncounted }
      settings.willTry()
      return try guess.test()
    } catch {
      restoreCount(row, before)
      throw error
    }
  }

  private enum Counting {
    /// The slot with the new count, the state before counting, and the records.
    case counted(SlotRow, before: AttemptState, records: [String: [UInt8]])
    case refused(VaultFailure)
    case replaced
  }

  /// Counts an attempt as failed on the disk, before it is made.
  ///
  /// - Returns: Also the failure that kept the hardware from counting, if any; then the attempt must not be made.
  private func count(_ guess: PasswordGuess) throws -> (Counting, uncounted: VaultFailure?) {
    let domainID = guess.slot.header.domainID
    let now = moment
    return try tables.changeBeforeCounting(domainID.container, isCounted: false) { rows in
      var row = try rows.slot(domainID.domain, .password)
      guard row.slot == guess.slot else { return .replaced }
      let before = row.attempts
      // If the records were altered, the right password would not help, so the attempt is not counted.
      let records = try rows.records(of: domainID.domain)
      try rows.advanceNumber()
      let policy = row.slot.header.lockPolicy
      let waitInstant = policy.dependsOnTime(from: before.failedCount) ? try waitInstant() : now.boot
      switch policy.decision(after: before, at: waitInstant) {
      case .allowed: break
      case .wait(let wait, let remaining): throw VaultFailure.waiting(wait, remaining: remaining)
      case .lockedOut: throw VaultFailure.lockedOut
      case .wipe:
        // A process ended between the last attempt and the wipe.
        try rows.wipe(WipeReceipt(of: row, at: now.wallSeconds))
        return .refused(.wiped(domain: domainID.domain))
      }
      row.attempts = row.attempts.countingAttempt(at: waitInstant)
      try rows.store(row)
      return .counted(row, before: before, records: records)
    }
  }

  /// Resets the count after a success.
  ///
  /// - Returns: True if the slot is still stored; a replacement slot has its own count.
  private func confirm(_ counted: SlotRow) throws -> Bool {
    let domainID = counted.slot.header.domainID
    return try tables.change(domainID.container, isCounted: false) { rows in
      var row = try rows.slot(domainID.domain, .password)
      guard row.slot == counted.slot else { return false }
      row.attempts = .afterSuccess
      row.password = row.password.map { PasswordTimes(stamp: $0.stamp, seenAt: $0.now(moment.wallSeconds)) }
      try rows.store(row)
      try rows.forgetMismatches(of: domainID.domain)
      return true
    }
  }

  /// Restores the count after a counted attempt that could not be made because the hardware was busy, unavailable or in lockout.
  ///
  /// The attempt revealed nothing, and the hardware keeps its own count. Otherwise a program that blocks the hardware could turn a
  /// few tries of the right password into a lockout or a wipe. If restoring fails, the attempt stays counted.
  private func restoreCount(_ counted: SlotRow, _ before: AttemptState) {
    let domainID = counted.slot.header.domainID
    do {
      try tables.change(domainID.container, isCounted: false) { rows in
        var row = try rows.slot(domainID.domain, .password)
        // Another process may have changed the password.
        guard row.slot == counted.slot, row.attempts == counted.attempts else { return }
        row.attempts = before
        try rows.store(row)
      }
    } catch {}  // the caller gets the earlier failure
  }

  /// Returns the failure for a wrong password; after the last attempt, wipes the domain or keeps it locked.
  ///
  /// - Parameters:
  ///   - row: The slot with the attempt counted.
  ///   - remaining: The guesses that the hardware still allows; `nil` if it did not compare this one.
  /// - Returns: The failure to throw.
  /// - Throws: ``SQLiteFailure`` if the wipe failed.
  private func refusal(_ row: SlotRow, hardwareAllows remaining: Int?) throws -> VaultFailure {
    let header = row.slot.header
    let now = moment
    let waitInstant =
      header.lockPolicy.dependsOnTime(from: row.attempts.failedCount) ? waitInstantForDisplay : now.boot
    let decision = header.lockPolicy.decision(after: row.attempts, at: waitInstant)
    let isExhausted = (remaining ?? 0) == 0 || decision == .lockedOut || decision == .wipe
    if isExhausted, header.lockPolicy.consequence == .wipe {
      try tables.change(header.domainID.container) { try $0.wipe(WipeReceipt(of: row, at: now.wallSeconds)) }
      return .wiped(domain: header.domainID.domain)
    }
    guard let remaining else { return .lockedOut }
    switch decision {
    case .allowed(let left), .wait(_, let left):
      return .wrongPassword(remaining: left.map { min($0, remaining) })
    case .lockedOut, .wipe: return .wrongPassword(remaining: 0)
    }
  }
}

extension LockPolicy {
  /// True if this attempt or the next has a wait; otherwise the time is not needed.
  fileprivate func dependsOnTime(from failures: Int) -> Bool {
    wait(afterFailure: failures) > 0 || wait(afterFailure: failures + 1) > 0
  }
}

extension ContainerRows {
  /// Resets the biometric mismatch count after the password was right.
  mutating func forgetMismatches(of domain: String) throws {
    do {
      var row = try slot(domain, .biometric)
      guard row.attempts != .afterSuccess else { return }
      row.attempts = .afterSuccess
      try store(row)
    } catch VaultFailure.noSuchSlot {}
  }
}

extension WipeReceipt {
  /// The receipt for a domain whose password was tried too often.
  fileprivate init(of row: SlotRow, at now: Int64) {
    let domainID = row.slot.header.domainID
    self.init(
      container: domainID.container, domain: domainID.domain, wipedAt: now,
      failedCount: row.attempts.failedCount)
  }
}
