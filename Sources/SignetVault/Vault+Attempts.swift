import SignetCrypto
import SignetPolicy

/// A password that was tried and is right, as far as the device can tell.
struct PasswordTrial {
  /// The slot as it was when the attempt was counted.
  let row: SlotRow
  let masterKey: SharedSecretBox
  /// `nil` unless the domain is silent: then the password may be wrong.
  let silent: SilentSealing?
  /// How long the derivation took.
  let derivation: Duration
}

extension Vault {
  /// Tries a password: counts the attempt, and only then makes it.
  ///
  /// The count stays until ``confirm(_:_:)``. In a silent domain there is nothing to count.
  ///
  /// - Throws: ``VaultFailure``: `wrongPassword`, `waiting`, `lockedOut`, `wiped`.
  func tryPassword(_ password: SharedSecretBox, _ place: DomainPlace) throws -> PasswordTrial {
    let (row, before) = try countAttempt(place)
    let header = row.slot.header
    try requireKeystore(of: row.slot)
    let beforeDerivation = ContinuousClock.now
    let derived = SharedSecretBox(
      try password.withSecret { try header.derive($0, settings.derivation) })
    let derivation = beforeDerivation.duration(to: .now)
    let secret: SharedSecretBox
    if header.guessLimit != nil, let counting = keystore as? any GuessLimitingKeystore {
      let outcome: GuessOutcome
      do throws(KeystoreFailure) {
        outcome = try counting.unseal(
          row.slot.sealedSecret, context: place.hardwareContext(.password),
          authorization: ProtectionSlot.authorization(derived))
      } catch {
        takeBack(row, before)
        throw error
      }
      switch consume outcome {
      case .opened(let opened): secret = SharedSecretBox(opened)
      case .wrong(let remaining): throw try refusal(row, hardwareAllows: remaining)
      case .lockedOut: throw try refusal(row, hardwareAllows: nil)
      }
    } else {
      secret = SharedSecretBox(try hardwareSecret(of: row.slot))
    }
    return try secret.withSecret { secret in
      guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: derived) else {
        throw try refusal(row)
      }
      return PasswordTrial(
        row: row, masterKey: SharedSecretBox(masterKey),
        silent: header.isSilent ? SilentSealing(hardwareSecret: secret, place: place) : nil,
        derivation: derivation)
    }
  }

  /// Takes the count back after a success, and puts a better slot in the place of the one that was opened.
  ///
  /// - Returns: The records of the domain.
  func confirm(_ trial: PasswordTrial, _ replacement: NewSlot? = nil) throws -> [String: [UInt8]] {
    let place = trial.row.slot.header.place
    if trial.silent != nil { return try tables.read(place.container) { try $0.records(of: place.domain) } }
    return try tables.change(place.container, isCounted: replacement != nil) { rows in
      var row = try rows.slot(place.domain, .password)
      // Another process may have changed the password since: then this one may be right no longer.
      guard row.slot == trial.row.slot else { throw VaultFailure.busy }
      row.attempts = .afterSuccess
      row.password = row.password.map { PasswordTimes(stamp: $0.stamp, seenAt: $0.now(moment.wallSeconds)) }
      if let replacement {
        try rows.store(replacement, password: row.password)
      } else {
        try rows.store(row)
      }
      try rows.forgetMismatches(of: place.domain)
      return try rows.records(of: place.domain)
    }
  }

  /// Counts an attempt as failed before it is made, on the disk, while no other process can count.
  ///
  /// - Returns: The slot with the new count, and what the count was before.
  private func countAttempt(_ place: DomainPlace) throws -> (SlotRow, before: AttemptState) {
    let now = moment
    var isWiped = false
    let (row, before) = try tables.change(place.container, isCounted: false) { rows in
      var row = try rows.slot(place.domain, .password)
      let before = row.attempts
      if row.slot.header.isSilent { return (row, before) }
      // Where the records were altered the right password would not help, so none is counted.
      _ = try rows.records(of: place.domain)
      try rows.takeNumber()
      let policy = row.slot.header.lockPolicy
      let waitInstant =
        policy.goesByTime(from: before.failedCount) ? try waitInstant() : now.boot
      switch policy.decision(after: before, at: waitInstant) {
      case .allowed: break
      case .wait(let wait, let remaining): throw VaultFailure.waiting(wait, remaining: remaining)
      case .lockedOut: throw VaultFailure.lockedOut
      case .wipe:
        // Somebody was stopped between the last attempt and the wiping.
        try rows.wipe(WipeReceipt(of: row, at: now.wallSeconds))
        isWiped = true
        return (row, before)
      }
      row.attempts = row.attempts.countingAttempt(at: waitInstant)
      try rows.store(row)
      return (row, before)
    }
    if isWiped {
      forgetReplaced()
      throw VaultFailure.wiped(domain: place.domain)
    }
    return (row, before)
  }

  /// Takes an attempt back that the hardware, which holds the limit, did not answer: it is busy, away or defends itself.
  ///
  /// Nobody has learnt anything from it, and the hardware's own count stands if it counted; without this, a few tries of the
  /// right password while another program keeps the hardware from answering would lock the domain, or erase it. If it cannot
  /// be taken back, it stays counted.
  private func takeBack(_ counted: SlotRow, _ before: AttemptState) {
    let place = counted.slot.header.place
    do {
      try tables.change(place.container) { rows in
        var row = try rows.slot(place.domain, .password)
        // Somebody may have tried since, or changed the password.
        guard row.slot == counted.slot, row.attempts == counted.attempts else { return }
        row.attempts = before
        try rows.store(row)
      }
    } catch {}  // it is the earlier failure that the caller has to hear of
  }

  /// What a wrong password is answered with; after the last one, wipes or stays locked.
  ///
  /// - Parameters:
  ///   - row: The slot with the attempt counted.
  ///   - remaining: How many guesses the hardware allows after this one; `nil` if it did not even look at this one.
  /// - Returns: What to throw.
  /// - Throws: ``SQLiteFailure``, if the erasing failed.
  private func refusal(_ row: SlotRow, hardwareAllows remaining: Int? = .max) throws -> VaultFailure {
    let header = row.slot.header
    let now = moment
    let waitInstant =
      header.lockPolicy.goesByTime(from: row.attempts.failedCount) ? waitInstantToTell : now.boot
    let decision = header.lockPolicy.decision(after: row.attempts, at: waitInstant)
    let isOver = (remaining ?? 0) == 0 || decision == .lockedOut || decision == .wipe
    if isOver, header.lockPolicy.consequence == .wipe {
      try tables.change(header.place.container) { try $0.wipe(WipeReceipt(of: row, at: now.wallSeconds)) }
      forgetReplaced()
      return .wiped(domain: header.place.domain)
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
  /// Whether after so many failures an attempt waits, or the one that follows it: else nobody need know the time.
  fileprivate func goesByTime(from failures: Int) -> Bool {
    wait(afterFailure: failures) > 0 || wait(afterFailure: failures + 1) > 0
  }
}

extension ContainerRows {
  /// Forgets the mismatches of a finger, after the password was right.
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
  /// For a domain whose password was tried too often.
  fileprivate init(of row: SlotRow, at now: Int64) {
    let place = row.slot.header.place
    self.init(
      container: place.container, domain: place.domain, wipedAt: now, failedCount: row.attempts.failedCount)
  }
}
