public import SignetCrypto
import SignetJSON
public import SignetPolicy
import SignetVault

// What is said of containers in `Device+AccountLocks` holds for accounts that were imported too; there is no server.

extension Accounts {
  /// What policies and locks an account has, as they were found last; nothing is evaluated.
  ///
  /// - Parameter id: Which one.
  /// - Returns: Its status.
  /// - Throws: ``SignetFailure``.
  public func status(of id: Account.ID) async throws(SignetFailure) -> AccountStatus {
    status(try await notes(of: id))
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
    try await requireThere(id, by: password)
    try await requireUnlocked(id)
    try await device.requireCompliance(with: policies)
    try await change(id) { $0.policies = policies.isEmpty ? nil : policies }
  }

  /// Locks an account by hand.
  ///
  /// - Parameters:
  ///   - id: Which one.
  ///   - policy: The policy that is the cause, one of the account's; `nil` for none.
  ///   - reason: Why; may be empty.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: What locks it now.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `accountLock`.
  @discardableResult
  public func lock(
    _ id: Account.ID, naming policy: String? = nil, reason: String = "", by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AccountLock {
    try await requireThere(id, by: password)
    let now = device.clock.now
    return try await change(id) { notes throws(AccountLockFailure) in
      try notes.lock.lock(
        naming: policy, of: notes.policies ?? AccountPolicySet(), reason: reason, at: now)
    }.lock
  }

  /// Ends a lock by hand, and one for inactivity, as ``Device/unlockAccount(_:by:)`` does.
  ///
  /// - Parameters:
  ///   - id: Which one.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: What locks it now; the policies are evaluated.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `accountLock`.
  @discardableResult
  public func unlock(
    _ id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AccountLock {
    try await requireThere(id, by: password)
    let before = try await evaluated(id).lock
    let isInactive = before.broken.contains { $0.breach.policy == InactivityPolicy().name }
    guard before.manual != nil || isInactive else {
      var lock = before
      do throws(AccountLockFailure) { try lock.unlock() } catch { throw .accountLock(error) }
      return lock
    }
    let now = device.vault.clock.now
    try await change(id) { notes throws(AccountLockFailure) in
      if notes.lock.manual != nil { try notes.lock.unlock() }
      notes.used = AccountNotes.Moment(now)
    }
    return try await evaluated(id).lock
  }

  // MARK: For the other calls

  /// Evaluates the policies, and refuses where anything locks the account; else this counts as a use of it.
  ///
  /// - Throws: ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked(_ id: Account.ID) async throws(SignetFailure) {
    try await device.requireIntegrity()
    let notes = try await evaluated(id)
    guard !notes.lock.isLocked else { throw .accountLocked(notes.lock) }
    guard let policies = notes.policies, policies[InactivityPolicy().name] != nil else { return }
    let now = device.vault.clock.now
    if let used = notes.used, used.seconds(until: now) < 3_600, !used.isAhead(of: now) { return }
    try await change(id, isCounted: false) { $0.used = AccountNotes.Moment(now) }
  }

  /// Gives accounts those of these policies that they do not have; what they have stays as it is.
  func merge(_ policies: AccountPolicySet, into ids: [Account.ID]) async throws(SignetFailure) {
    for id in ids {
      try await change(id) { notes in
        var json = notes.policies?.json ?? [:]
        for (name, value) in policies.json.members where !json.contains(name) { json[name] = value }
        // Where both together are more than there may be, those that are there stay.
        do { notes.policies = try AccountPolicySet(json) } catch {}
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

  private func requireThere(_ id: Account.ID, by password: SharedSecretBox?) async throws(SignetFailure) {
    guard let records = try await opened(by: password),
      [AccountRecord.name(id), PushMechanismRecord.name(id)].contains(where: records.names.contains)
    else { throw .noSuchAccount }
  }

  private func notes(of id: Account.ID) async throws(SignetFailure) -> AccountNotes {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else {
      return AccountNotes()
    }
    let stored = try await vaulted(await device.vault.container(container))
    return try ContainerNotes(parsing: stored.attributes.extra).account(id)
  }

  private func evaluated(_ id: Account.ID) async throws(SignetFailure) -> AccountNotes {
    let notes = try await notes(of: id)
    let policies = notes.policies ?? AccountPolicySet()
    guard !policies.isEmpty || !notes.lock.broken.isEmpty else {
      device.lockObservers.tell(AccountLockChange(subject: .account(id), lock: notes.lock))
      return notes
    }
    let evidence = await device.evidence(
      for: notes, since: notes.used?.wallSeconds ?? device.clock.now, isOfServer: false)
    let report = await device.accountPolicies.evaluator.evaluate(policies, evidence)
    let now = device.clock.now
    var next = notes.lock
    guard next.apply(report, at: now) else {
      device.lockObservers.tell(AccountLockChange(subject: .account(id), lock: next))
      return notes
    }
    return try await change(id) { $0.lock.apply(report, at: now) }
  }

  /// Changes the notes of an account, with nobody changing them meanwhile.
  @discardableResult
  func change(
    _ id: Account.ID, isCounted: Bool = true,
    _ body: @escaping @Sendable (inout AccountNotes) throws(AccountLockFailure) -> Void
  ) async throws(SignetFailure) -> AccountNotes {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else {
      throw .noSuchAccount
    }
    let changed = try await vaulted(
      await device.vault.changeExtra(of: container, isCounted: isCounted) {
        (extra) throws(VaultFailure) -> Result<(before: AccountLock, notes: AccountNotes), SignetFailure> in
        var all = ContainerNotes(parsing: extra)
        do throws(SignetFailure) {
          var notes = try all.account(id)
          let before = notes.lock
          do throws(AccountLockFailure) { try body(&notes) } catch { throw .accountLock(error) }
          all.setAccount(id, notes)
          extra = all.bytes
          return .success((before, notes))
        } catch { return .failure(error) }
      })
    let (before, notes) = try changed.get()
    device.lockObservers.tell(
      AccountLockChange(subject: .account(id), lock: notes.lock), isChanged: before != notes.lock)
    return notes
  }

  private func status(_ notes: AccountNotes) -> AccountStatus {
    let policies = notes.policies ?? AccountPolicySet()
    let registry = device.accountPolicies.evaluator.registry
    return AccountStatus(
      policies: policies, unknownPolicies: policies.names.filter { registry[$0] == nil }, lock: notes.lock,
      stepUpReason: nil)
  }
}
