public import SignetCrypto
import SignetJSON
public import SignetPolicy
import SignetVault

// The lock operations of `Device+AccountLocks`, for imported and enrolled accounts; they have no server.
//
// An enrolled account may have several parts: one-time codes and a push mechanism. Each part has its own stored state, so
// a code reads only one. Policies and manual locks are set for all parts in one transaction, whichever part is named.

extension Accounts {
  /// Returns the policies and locks of an account from the last evaluation; nothing is evaluated.
  ///
  /// - Parameter id: The account.
  /// - Returns: Its status.
  /// - Throws: ``SignetError``.
  public func status(of id: Account.ID) async throws(SignetError) -> AccountStatus {
    status(try await state(of: id))
  }

  /// Returns the policies and locks of an enrolled account from the last evaluation; nothing is evaluated.
  ///
  /// - Parameter account: The account.
  /// - Returns: The status of its first locked part, or of its first part if none is locked.
  /// - Throws: ``SignetError``.
  public func status(of account: EnrolledAccount) async throws(SignetError) -> AccountStatus {
    var first: AccountStatus?
    for part in account.codes.map(\.id) + (account.push.map { [$0.id] } ?? []) {
      let status = try await status(of: part)
      if status.lock.isLocked { return status }
      first = first ?? status
    }
    guard let first else { throw .noSuchAccount }
    return first
  }

  /// Evaluates the policies of an account, and locks or unlocks it accordingly.
  ///
  /// - Parameter id: The account.
  /// - Returns: Its status.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func evaluatePolicies(of id: Account.ID) async throws(SignetError) -> AccountStatus {
    status(try await evaluated(id))
  }

  /// Evaluates the policies of all accounts that have any.
  ///
  /// - Returns: The status of each account that has policies or locks.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func evaluatePolicies() async throws(SignetError) -> [Account.ID: AccountStatus] {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else { return [:] }
    let stored = try await vaulted(await device.vault.container(container))
    var found: [Account.ID: AccountStatus] = [:]
    for id in ContainerMetadata(parsing: stored.attributes.extra).accountIDs {
      found[id] = status(try await evaluated(id))
    }
    return found
  }

  /// Sets the policies of an account if the device complies with them now.
  ///
  /// - Parameters:
  ///   - policies: The policies; an empty set removes them.
  ///   - id: The account; it must not be locked.
  ///   - password: The password of the accounts, if they have one.
  /// - Throws: ``SignetError``: `noSuchAccount`, `accountLocked`, `accountPolicy`, `accountPolicyBroken`.
  public func setPolicies(
    _ policies: AccountPolicySet, of id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetError) {
    let parts = try await parts(of: id, by: password)
    try await requireUnlocked(parts)
    try await device.requireCompliance(with: policies)
    let now = device.vault.clock.now
    try await change(parts) { all throws(SignetError) in
      for index in all.indices {
        all[index].set(policies, inPlaceOf: all[index].policies ?? AccountPolicySet(), at: now)
        if policies.isEmpty { all[index].policies = nil }
      }
    }
  }

  /// Locks an account manually, with all its parts.
  ///
  /// - Parameters:
  ///   - id: The account or one of its parts.
  ///   - policy: The policy that is the cause, one of the account's; `nil` for none.
  ///   - reason: The reason; may be empty.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The locks in effect now.
  /// - Throws: ``SignetError``: `noSuchAccount`, `accountLock`.
  @discardableResult
  public func lock(
    _ id: Account.ID, naming policy: String? = nil, reason: String = "", by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> AccountLock {
    let parts = try await parts(of: id, by: password)
    let now = device.clock.now
    return try await change(parts) { all throws(SignetError) in
      guard all.contains(where: { $0.lock.manual == nil }) else { throw .accountLock(.alreadyLocked) }
      let named = all.first { state in policy.map { state.policies?[$0] != nil } ?? true }
      for index in all.indices where all[index].lock.manual == nil {
        try all[index].lock(
          naming: policy, of: named?.policies ?? AccountPolicySet(), reason: reason, at: now)
      }
    }[0].lock
  }

  /// Removes a manual lock and a lock for inactivity, like ``Device/unlockAccount(_:by:)``.
  ///
  /// - Parameters:
  ///   - id: The account or one of its parts.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The locks in effect after an evaluation of the policies.
  /// - Throws: ``SignetError``: `noSuchAccount`, `accountLock`.
  @discardableResult
  public func unlock(
    _ id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> AccountLock {
    let parts = try await parts(of: id, by: password)
    var before: [AccountState] = []
    for part in parts { before.append(try await evaluated(part)) }
    if !before.contains(where: \.canBeUnlocked) {
      try (before.first { $0.lock.isLocked } ?? before[0]).requireUnlockable()
    }
    let now = device.vault.clock.now
    try await change(parts) { all throws(SignetError) in
      for index in all.indices { all[index].unlock(at: now) }
    }
    var locks: [AccountLock] = []
    for part in parts { locks.append(try await evaluated(part).lock) }
    return locks.first(where: \.isLocked) ?? locks[0]
  }

  // MARK: Lock checks and parts

  /// Evaluates the policies and throws if the account is locked; otherwise the call counts as a use of the account.
  ///
  /// - Throws: ``SignetError/accountLocked(_:)``, or ``SignetError/integrity(_:)`` on tampering.
  func requireUnlocked(_ id: Account.ID) async throws(SignetError) {
    try await device.requireIntegrity()
    let state = try await evaluated(id)
    try state.requireUnlocked()
    let now = device.vault.clock.now
    guard state.isUseDue(under: state.policies ?? AccountPolicySet(), at: now) else { return }
    try await change([id], isCounted: false) { all throws(SignetError) in
      all[0].used = AccountState.Moment(now)
    }
  }

  /// Evaluates the policies of all parts and throws if one of them is locked.
  ///
  /// - Throws: ``SignetError/accountLocked(_:)``.
  func requireUnlocked(_ parts: [Account.ID]) async throws(SignetError) {
    for part in parts { try await requireUnlocked(part) }
  }

  /// Adds the missing ones of these policies to accounts; existing policies stay unchanged.
  ///
  /// - Throws: ``SignetError/accountPolicy(_:)`` if the combined policies exceed the limits; nothing is changed then.
  func merge(_ policies: AccountPolicySet, into ids: [Account.ID]) async throws(SignetError) {
    let now = device.vault.clock.now
    var isNeeded = false
    for id in ids {
      let before = try await state(of: id)
      var after = before
      try after.add(policies, at: now)
      if after.policies != before.policies { isNeeded = true }
    }
    guard isNeeded else { return }
    try await change(ids) { all throws(SignetError) in
      for index in all.indices { try all[index].add(policies, at: now) }
    }
  }

  /// Extends a manual lock of one part to all parts of an account, for a part that was just added.
  ///
  /// - Throws: ``SignetError``.
  func shareLock(among parts: [Account.ID]) async throws(SignetError) {
    var (isLocked, isOpen) = (false, false)
    for part in parts {
      if try await state(of: part).lock.manual == nil { isOpen = true } else { isLocked = true }
    }
    guard isLocked, isOpen else { return }
    try await change(parts) { all throws(SignetError) in
      guard let manual = all.lazy.compactMap(\.lock.manual).first else { return }
      for index in all.indices where all[index].lock.manual == nil {
        try all[index].lock(naming: nil, of: AccountPolicySet(), reason: manual.reason, at: manual.since)
      }
    }
  }

  /// Deletes the policies and locks of a deleted account.
  func removeState(of id: Account.ID) async throws(SignetError) {
    guard try await state(of: id) != AccountState() else { return }
    guard let container = try await vaulted(await device.vault.accountsContainer()) else { return }
    try await vaulted(
      await device.vault.changeExtra(of: container, isCounted: false) { (extra) throws(VaultFailure) in
        var all = ContainerMetadata(parsing: extra)
        all.setAccount(id, nil)
        extra = all.bytes
      })
    device.lockObservers.forget(.account(id))
  }

  /// Returns the parts of the account with an ID, or with a part with that ID; that part comes first.
  func parts(
    of id: Account.ID, by password: SharedSecretBox?
  ) async throws(SignetError) -> [Account.ID] {
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

  private func state(of id: Account.ID) async throws(SignetError) -> AccountState {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else {
      return AccountState()
    }
    let stored = try await vaulted(await device.vault.container(container))
    return try ContainerMetadata(parsing: stored.attributes.extra).account(id)
  }

  private func evaluated(_ id: Account.ID) async throws(SignetError) -> AccountState {
    var state = try await state(of: id)
    let policies = state.policies ?? AccountPolicySet()
    guard !policies.isEmpty || !state.lock.broken.isEmpty else {
      device.lockObservers.publish(AccountLockChange(subject: .account(id), lock: state.lock))
      return state
    }
    if state.used == nil, policies[InactivityPolicy.policyName] != nil {
      // An earlier version stored the first use only. The inactivity time starts now, and must not restart at each evaluation.
      let first = AccountState.Moment(device.vault.clock.now)
      state = try await change([id], isCounted: false) { all throws(SignetError) in
        all[0].used = all[0].used ?? first
      }[0]
    }
    let evidence = await device.evidence(for: state, since: device.clock.now, isOfServer: false)
    let report = await device.accountPolicies.evaluator.evaluate(policies, evidence)
    let now = device.clock.now
    var next = state.lock
    guard next.apply(report, at: now) else {
      device.lockObservers.publish(AccountLockChange(subject: .account(id), lock: next))
      return state
    }
    return try await change([id]) { all throws(SignetError) in all[0].lock.apply(report, at: now) }[0]
  }

  /// Changes the stored state of accounts in one transaction.
  ///
  /// - Parameters:
  ///   - ids: The accounts.
  ///   - isCounted: True for a security-relevant change such as a lock, which must not be undone by restoring an older
  ///     copy of the vault.
  ///   - body: Changes the states, in the order of `ids`; if it throws, nothing is changed.
  /// - Returns: The states after the change, in the same order.
  /// - Throws: ``SignetError``.
  @discardableResult
  func change(
    _ ids: [Account.ID], isCounted: Bool = true,
    _ body: @escaping @Sendable (inout [AccountState]) throws(SignetError) -> Void
  ) async throws(SignetError) -> [AccountState] {
    guard let container = try await vaulted(await device.vault.accountsContainer()) else {
      throw .noSuchAccount
    }
    let changed = try await vaulted(
      await device.vault.changeExtra(of: container, isCounted: isCounted) {
        (extra) throws(VaultFailure) -> Result<(before: [AccountState], after: [AccountState]), SignetError>
        in
        var metadata = ContainerMetadata(parsing: extra)
        do throws(SignetError) {
          var states: [AccountState] = []
          for id in ids { states.append(try metadata.account(id)) }
          let before = states
          try body(&states)
          for (id, changed) in zip(ids, states) { metadata.setAccount(id, changed) }
          extra = metadata.bytes
          return .success((before, states))
        } catch { return .failure(error) }
      })
    let (before, after) = try changed.get()
    for (index, id) in ids.enumerated() {
      device.lockObservers.publish(
        AccountLockChange(subject: .account(id), lock: after[index].lock),
        isChanged: before[index].lock != after[index].lock)
    }
    return after
  }

  private func status(_ state: AccountState) -> AccountStatus {
    AccountStatus(
      state, state.policies ?? AccountPolicySet(), device.accountPolicies.evaluator.registry,
      without: [OfflinePeriodPolicy.policyName])
  }
}
