public import SignetCrypto
import SignetJSON
public import SignetPolicy
import SignetVault

// What is said of containers in `Device+AccountLocks` holds for accounts that were imported too; there is no server.
//
// An account that was enrolled may have several parts: one-time codes and push messages. Each keeps notes of its own, so that a code
// costs a look at one; policies and locks by hand are set for all parts in one step, whichever of them is named.

extension Accounts {
  /// What policies and locks an account has, as they were found last; nothing is evaluated.
  ///
  /// - Parameter id: Which one.
  /// - Returns: Its status.
  /// - Throws: ``SignetFailure``.
  public func status(of id: Account.ID) async throws(SignetFailure) -> AccountStatus {
    status(try await notes(of: id))
  }

  /// What policies and locks an account has that was enrolled, as they were found last; nothing is evaluated.
  ///
  /// - Parameter account: Which one.
  /// - Returns: The status of its parts: that of the first one that is locked, if any.
  /// - Throws: ``SignetFailure``.
  public func status(of account: EnrolledAccount) async throws(SignetFailure) -> AccountStatus {
    var first: AccountStatus?
    for part in account.codes.map(\.id) + (account.push.map { [$0.id] } ?? []) {
      let status = try await status(of: part)
      if status.lock.isLocked { return status }
      first = first ?? status
    }
    guard let first else { throw .noSuchAccount }
    return first
  }

  /// Evaluates the policies of an account, and locks it or unlocks it as they say.
  ///
  /// - Parameter id: Which one.
  /// - Returns: Its status.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  public func evaluatePolicies(of id: Account.ID) async throws(SignetFailure) -> AccountStatus {
    status(try await evaluated(id))
  }

  /// Evaluates the policies of all accounts that have some.
  ///
  /// - Returns: The status of each account that has policies or locks.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  public func evaluatePolicies() async throws(SignetFailure) -> [Account.ID: AccountStatus] {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else { return [:] }
    let stored = try await vaulted(await device.vault.container(container))
    var found: [Account.ID: AccountStatus] = [:]
    for id in ContainerNotes(parsing: stored.attributes.extra).accountIDs {
      found[id] = status(try await evaluated(id))
    }
    return found
  }

  /// Sets the policies of an account, where it is compliant with them now.
  ///
  /// - Parameters:
  ///   - policies: The policies; none takes them away.
  ///   - id: Which one; it must not be locked.
  ///   - password: What opens the accounts, where they have one.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `accountLocked`, `accountPolicy`, `accountPolicyBroken`.
  public func setPolicies(
    _ policies: AccountPolicySet, of id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) {
    let parts = try await parts(of: id, by: password)
    try await requireUnlocked(parts)
    try await device.requireCompliance(with: policies)
    let now = device.vault.clock.now
    try await change(parts) { all throws(SignetFailure) in
      for index in all.indices {
        all[index].set(policies, inPlaceOf: all[index].policies ?? AccountPolicySet(), at: now)
        if policies.isEmpty { all[index].policies = nil }
      }
    }
  }

  /// Locks an account by hand, with all its parts.
  ///
  /// - Parameters:
  ///   - id: Which one: the account, or a part of it.
  ///   - policy: The policy that is the cause, one of the account's; `nil` for none.
  ///   - reason: Why; may be empty.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: What locks it now.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `accountLock`.
  @discardableResult
  public func lock(
    _ id: Account.ID, naming policy: String? = nil, reason: String = "", by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AccountLock {
    let parts = try await parts(of: id, by: password)
    let now = device.clock.now
    return try await change(parts) { all throws(SignetFailure) in
      guard all.contains(where: { $0.lock.manual == nil }) else { throw .accountLock(.alreadyLocked) }
      let named = all.first { notes in policy.map { notes.policies?[$0] != nil } ?? true }
      for index in all.indices where all[index].lock.manual == nil {
        try all[index].lock(
          naming: policy, of: named?.policies ?? AccountPolicySet(), reason: reason, at: now)
      }
    }[0].lock
  }

  /// Ends a lock by hand, and one for inactivity, as ``Device/unlockAccount(_:by:)`` does.
  ///
  /// - Parameters:
  ///   - id: Which one: the account, or a part of it.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: What locks it now; the policies are evaluated.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `accountLock`.
  @discardableResult
  public func unlock(
    _ id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AccountLock {
    let parts = try await parts(of: id, by: password)
    var before: [AccountNotes] = []
    for part in parts { before.append(try await evaluated(part)) }
    if !before.contains(where: \.canBeUnlocked) {
      try (before.first { $0.lock.isLocked } ?? before[0]).requireUnlockable()
    }
    let now = device.vault.clock.now
    try await change(parts) { all throws(SignetFailure) in
      for index in all.indices { all[index].unlock(at: now) }
    }
    var locks: [AccountLock] = []
    for part in parts { locks.append(try await evaluated(part).lock) }
    return locks.first(where: \.isLocked) ?? locks[0]
  }

  // MARK: For the other calls

  /// Evaluates the policies, and refuses where anything locks the account; else this counts as a use of it.
  ///
  /// - Throws: ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked(_ id: Account.ID) async throws(SignetFailure) {
    try await device.requireIntegrity()
    let notes = try await evaluated(id)
    try notes.requireUnlocked()
    let now = device.vault.clock.now
    guard notes.isUseDue(under: notes.policies ?? AccountPolicySet(), at: now) else { return }
    try await change([id], isCounted: false) { all throws(SignetFailure) in
      all[0].used = AccountNotes.Moment(now)
    }
  }

  /// Evaluates the policies of all parts, and refuses where anything locks one of them.
  ///
  /// - Throws: ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked(_ parts: [Account.ID]) async throws(SignetFailure) {
    for part in parts { try await requireUnlocked(part) }
  }

  /// Gives accounts those of these policies that they do not have; what they have stays as it is.
  ///
  /// - Throws: ``SignetFailure/accountPolicy(_:)`` where both together are more than there may be; nothing is changed then.
  func merge(_ policies: AccountPolicySet, into ids: [Account.ID]) async throws(SignetFailure) {
    let now = device.vault.clock.now
    var isNeeded = false
    for id in ids {
      let before = try await notes(of: id)
      var after = before
      try after.add(policies, at: now)
      if after.policies != before.policies { isNeeded = true }
    }
    guard isNeeded else { return }
    try await change(ids) { all throws(SignetFailure) in
      for index in all.indices { try all[index].add(policies, at: now) }
    }
  }

  /// Locks all parts of an account by hand where one of them is: a part that has just joined.
  ///
  /// - Throws: ``SignetFailure``.
  func shareLock(among parts: [Account.ID]) async throws(SignetFailure) {
    var (isLocked, isOpen) = (false, false)
    for part in parts {
      if try await notes(of: part).lock.manual == nil { isOpen = true } else { isLocked = true }
    }
    guard isLocked, isOpen else { return }
    try await change(parts) { all throws(SignetFailure) in
      guard let manual = all.lazy.compactMap(\.lock.manual).first else { return }
      for index in all.indices where all[index].lock.manual == nil {
        try all[index].lock(naming: nil, of: AccountPolicySet(), reason: manual.reason, at: manual.since)
      }
    }
  }

  /// Forgets the policies and locks of an account that was deleted.
  func forgetNotes(of id: Account.ID) async throws(SignetFailure) {
    guard try await notes(of: id) != AccountNotes() else { return }
    guard let container = try await vaulted(await device.vault.accountsContainer()) else { return }
    try await vaulted(
      await device.vault.changeExtra(of: container, isCounted: false) { (extra) throws(VaultFailure) in
        var all = ContainerNotes(parsing: extra)
        all.setAccount(id, nil)
        extra = all.bytes
      })
    device.lockObservers.forget(.account(id))
  }

  /// The parts of the account that is named, or that has a part of this name; that part first.
  func parts(
    of id: Account.ID, by password: SharedSecretBox?
  ) async throws(SignetFailure) -> [Account.ID] {
    guard let records = try await opened(by: password) else { throw .noSuchAccount }
    let groups = try await vaulted(Self.groups(in: records)).map { group in
      (id: group.id, parts: group.record.codes + (group.record.push.map { [$0] } ?? []))
    }
    let group = groups.first { $0.id == id || $0.parts.contains(id) }
    let parts = ([id] + (group?.parts.filter { $0 != id } ?? [])).filter { part in
      [AccountRecord.name(part), PushMechanismRecord.name(part)].contains(where: records.names.contains)
    }
    guard !parts.isEmpty, parts[0] == id || group?.id == id else { throw .noSuchAccount }
    return parts
  }

  private func notes(of id: Account.ID) async throws(SignetFailure) -> AccountNotes {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else {
      return AccountNotes()
    }
    let stored = try await vaulted(await device.vault.container(container))
    return try ContainerNotes(parsing: stored.attributes.extra).account(id)
  }

  private func evaluated(_ id: Account.ID) async throws(SignetFailure) -> AccountNotes {
    var notes = try await notes(of: id)
    let policies = notes.policies ?? AccountPolicySet()
    guard !policies.isEmpty || !notes.lock.broken.isEmpty else {
      device.lockObservers.tell(AccountLockChange(subject: .account(id), lock: notes.lock))
      return notes
    }
    if notes.used == nil, policies[InactivityPolicy.policyName] != nil {
      // Of an earlier version, which noted the first use only: the time begins now, and not anew with each look.
      let first = AccountNotes.Moment(device.vault.clock.now)
      notes = try await change([id], isCounted: false) { all throws(SignetFailure) in
        all[0].used = all[0].used ?? first
      }[0]
    }
    let evidence = await device.evidence(for: notes, since: device.clock.now, isOfServer: false)
    let report = await device.accountPolicies.evaluator.evaluate(policies, evidence)
    let now = device.clock.now
    var next = notes.lock
    guard next.apply(report, at: now) else {
      device.lockObservers.tell(AccountLockChange(subject: .account(id), lock: next))
      return notes
    }
    return try await change([id]) { all throws(SignetFailure) in all[0].lock.apply(report, at: now) }[0]
  }

  /// Changes the notes of accounts in one step, with nobody changing them meanwhile.
  ///
  /// - Parameters:
  ///   - ids: The accounts.
  ///   - isCounted: Whether an older copy of the vault could undo the change to somebody's advantage: a lock.
  ///   - body: Changes them, in the order of `ids`; where it throws, nothing is changed.
  /// - Returns: The notes as they are now, in the same order.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  func change(
    _ ids: [Account.ID], isCounted: Bool = true,
    _ body: @escaping @Sendable (inout [AccountNotes]) throws(SignetFailure) -> Void
  ) async throws(SignetFailure) -> [AccountNotes] {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else {
      throw .noSuchAccount
    }
    let changed = try await vaulted(
      await device.vault.changeExtra(of: container, isCounted: isCounted) {
        (extra) throws(VaultFailure) -> Result<(before: [AccountNotes], after: [AccountNotes]), SignetFailure>
        in
        var kept = ContainerNotes(parsing: extra)
        do throws(SignetFailure) {
          var notes: [AccountNotes] = []
          for id in ids { notes.append(try kept.account(id)) }
          let before = notes
          try body(&notes)
          for (id, changed) in zip(ids, notes) { kept.setAccount(id, changed) }
          extra = kept.bytes
          return .success((before, notes))
        } catch { return .failure(error) }
      })
    let (before, after) = try changed.get()
    for (index, id) in ids.enumerated() {
      device.lockObservers.tell(
        AccountLockChange(subject: .account(id), lock: after[index].lock),
        isChanged: before[index].lock != after[index].lock)
    }
    return after
  }

  private func status(_ notes: AccountNotes) -> AccountStatus {
    AccountStatus(
      notes, notes.policies ?? AccountPolicySet(), device.accountPolicies.evaluator.registry,
      without: [OfflinePeriodPolicy.policyName])
  }
}
