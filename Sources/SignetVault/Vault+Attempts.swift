import SignetCrypto
import SignetPolicy

/// A password that was tried and is right, as far as the device can tell.
struct PasswordTrial {
  /// The slot that it opens.
  let row: SlotRow
  let masterKey: SharedSecretBox
  /// `nil` unless the domain is silent: then the password may be wrong.
  let silent: SilentSealing?
  /// The records of the domain, as they were when the password was tried.
  let records: [String: [UInt8]]
  /// How long the derivation took.
  let derivation: Duration
}

extension Vault {
  /// Tries a password.
  ///
  /// First the key is derived from it, which takes long and counts nothing. Then comes one short step, which one process at a time
  /// makes: the attempt is counted on the disk, and where the hardware counts, in it; it is made; where it succeeded, the count is taken
  /// back. So a process that is killed in that step has counted an attempt, and never has an attempt that is not counted. In a
  /// silent domain there is nothing to count.
  ///
  /// - Throws: ``VaultFailure``: `wrongPassword`, `waiting`, `lockedOut`, `wiped`.
  func tryPassword(_ password: SharedSecretBox, _ place: DomainPlace) throws -> PasswordTrial {
    while true {
      let row = try requireAllowed(place)
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
          PasswordGuess(slot, derived, .known(SharedSecretBox(try hardwareSecret(of: slot))))
        }
      switch try inTurn({ try attempt(guess) }) {
      case .right(let row, let masterKey, let records):
        return PasswordTrial(
          row: row, masterKey: masterKey, silent: nil, records: records, derivation: derivation)
      case .refused(let failure):
        if case .wiped = failure { forgetReplaced() }
        throw failure
      case .replaced: continue  // each time by somebody who has opened the domain
      }
    }
  }

  /// What any password opens in a silent domain.
  private func silentTrial(
    _ row: SlotRow, _ derived: SharedSecretBox, _ derivation: Duration
  ) throws -> PasswordTrial {
    let place = row.slot.header.place
    let secret = try hardwareSecret(of: row.slot)
    guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: derived) else {
      throw VaultFailure.altered(.slot(place.container, domain: place.domain))
    }
    return PasswordTrial(
      row: row, masterKey: SharedSecretBox(masterKey),
      silent: SilentSealing(hardwareSecret: secret, place: place),
      records: try tables.read(place.container) { try $0.records(of: place.domain) }, derivation: derivation)
  }

  /// The slot of a domain; one whose password it is too early or too late to try is refused before the derivation.
  ///
  /// What has to be erased is erased when it is the attempt's turn.
  private func requireAllowed(_ place: DomainPlace) throws -> SlotRow {
    let (row, decision) = try decided(
      unless: { $0.1.isAllowed },
      {
        let row = try tables.read(place.container) { try $0.slot(place.domain, .password) }
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

  /// What an attempt came to.
  private enum Attempt {
    case right(SlotRow, masterKey: SharedSecretBox, records: [String: [UInt8]])
    case refused(VaultFailure)
    /// The slot is another one by now: that of a new password, or a better one. What was derived says nothing about it.
    case replaced
  }

  /// Counts an attempt, makes it, and takes the count back if it succeeded.
  ///
  /// - Precondition: It is this attempt's turn.
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

  /// Makes an attempt that was counted; where that cannot be done, it is taken back.
  private func test(
    _ guess: PasswordGuess, _ row: SlotRow, _ before: AttemptState, _ uncounted: VaultFailure?
  ) throws -> PasswordGuess.Result {
    do {
      if let uncounted { throw uncounted }
      settings.willTry()
      return try guess.test()
    } catch {
      takeBack(row, before)
      throw error
    }
  }

  /// What counting an attempt came to.
  private enum Counting {
    /// The slot with the new count, what the count was before, and the records.
    case counted(SlotRow, before: AttemptState, records: [String: [UInt8]])
    case refused(VaultFailure)
    case replaced
  }

  /// Counts an attempt as failed before it is made, on the disk.
  ///
  /// - Returns: Also what kept the hardware from counting it, if anything: then it may not be made.
  private func count(_ guess: PasswordGuess) throws -> (Counting, uncounted: VaultFailure?) {
    let place = guess.slot.header.place
    let now = moment
    return try tables.changeBeforeCounting(place.container, isCounted: false) { rows in
      var row = try rows.slot(place.domain, .password)
      guard row.slot == guess.slot else { return .replaced }
      let before = row.attempts
      // Where the records were altered the right password would not help, so none is counted.
      let records = try rows.records(of: place.domain)
      try rows.takeNumber()
      let policy = row.slot.header.lockPolicy
      let waitInstant = policy.goesByTime(from: before.failedCount) ? try waitInstant() : now.boot
      switch policy.decision(after: before, at: waitInstant) {
      case .allowed: break
      case .wait(let wait, let remaining): throw VaultFailure.waiting(wait, remaining: remaining)
      case .lockedOut: throw VaultFailure.lockedOut
      case .wipe:
        // Somebody was stopped between the last attempt and the wiping.
        try rows.wipe(WipeReceipt(of: row, at: now.wallSeconds))
        return .refused(.wiped(domain: place.domain))
      }
      row.attempts = row.attempts.countingAttempt(at: waitInstant)
      try rows.store(row)
      return .counted(row, before: before, records: records)
    }
  }

  /// Takes the count back after a success.
  ///
  /// - Returns: Whether the slot is still there; the count of one that has taken its place is that one's own.
  private func confirm(_ counted: SlotRow) throws -> Bool {
    let place = counted.slot.header.place
    return try tables.change(place.container, isCounted: false) { rows in
      var row = try rows.slot(place.domain, .password)
      guard row.slot == counted.slot else { return false }
      row.attempts = .afterSuccess
      row.password = row.password.map { PasswordTimes(stamp: $0.stamp, seenAt: $0.now(moment.wallSeconds)) }
      try rows.store(row)
      try rows.forgetMismatches(of: place.domain)
      return true
    }
  }

  /// Takes an attempt back that was counted and not made: the hardware, which counts or holds the limit, is busy, away or defends itself.
  ///
  /// Nobody has learnt anything from it, and the hardware's own count stands if it counted; without this, a few tries of the
  /// right password while another program keeps the hardware from answering would lock the domain, or erase it. If it cannot
  /// be taken back, it stays counted.
  private func takeBack(_ counted: SlotRow, _ before: AttemptState) {
    let place = counted.slot.header.place
    do {
      try tables.change(place.container, isCounted: false) { rows in
        var row = try rows.slot(place.domain, .password)
        // Somebody may have changed the password.
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
  private func refusal(_ row: SlotRow, hardwareAllows remaining: Int?) throws -> VaultFailure {
    let header = row.slot.header
    let now = moment
    let waitInstant =
      header.lockPolicy.goesByTime(from: row.attempts.failedCount) ? waitInstantToTell : now.boot
    let decision = header.lockPolicy.decision(after: row.attempts, at: waitInstant)
    let isOver = (remaining ?? 0) == 0 || decision == .lockedOut || decision == .wipe
    if isOver, header.lockPolicy.consequence == .wipe {
      try tables.change(header.place.container) { try $0.wipe(WipeReceipt(of: row, at: now.wallSeconds)) }
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
