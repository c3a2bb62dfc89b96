import SignetCrypto
public import SignetPolicy
import SignetVault

extension Device {
  /// The locks that change from now on, of containers and imported accounts: by this device, or found changed by another process.
  ///
  /// Each call gives a sequence of its own. What nobody reads is kept up to 64 changes.
  public var accountLockChanges: AsyncStream<AccountLockChange> { lockObservers.changes }

  /// What policies and locks a container has, as they were found last; nothing is evaluated.
  ///
  /// - Parameter container: Which one.
  /// - Returns: Its status.
  /// - Throws: ``SignetFailure``.
  public func accountStatus(of container: Container) async throws(SignetFailure) -> AccountStatus {
    status(try await accountNotes(of: container.id), container)
  }

  /// Evaluates the policies of a container, and locks it or unlocks it as they say.
  ///
  /// - Parameter container: Which one.
  /// - Returns: Its status.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  public func evaluateAccountPolicies(
    of container: Container
  ) async throws(SignetFailure) -> AccountStatus {
    status(try await evaluated(container), container)
  }

  /// Evaluates the policies of all containers and of all accounts that were imported: for an app that starts or comes to the front.
  ///
  /// - Returns: The status of each container that has policies or locks.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  public func evaluateAccountPolicies() async throws(SignetFailure) -> [Container.ID: AccountStatus] {
    var found: [Container.ID: AccountStatus] = [:]
    for container in try await containers() {
      let status = try await evaluateAccountPolicies(of: container)
      if !status.policies.isEmpty || status.lock.isLocked { found[container.id] = status }
    }
    try await accounts.evaluatePolicies()
    return found
  }

  /// Locks a container by hand: it stays locked until it is unlocked, whatever its policies say.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - policy: The policy that is the cause, one of the container's; `nil` for none.
  ///   - reason: Why; may be empty.
  /// - Returns: What locks it now.
  /// - Throws: ``SignetFailure/accountLock(_:)``: it is locked by hand already, or has no such policy.
  @discardableResult
  public func lockAccount(
    _ container: Container, naming policy: String? = nil, reason: String = ""
  ) async throws(SignetFailure) -> AccountLock {
    let (now, profile) = (clock.now, container.profile.accountPolicies)
    return try await change(container.id, isCounted: true) { notes throws(SignetFailure) in
      try notes.lock(naming: policy, of: notes.policies ?? profile, reason: reason, at: now)
    }.lock
  }

  /// Ends a lock by hand, and one for inactivity: to unlock is a use.
  ///
  /// Locks of the server, and of policies that are still broken, stay.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - authentication: What opens the container, which has to be there where something does but the device.
  /// - Returns: What locks it now; the policies are evaluated.
  /// - Throws: ``SignetFailure/accountLock(_:)`` where nothing locks it that could be ended here, and what is thrown where the
  ///   container does not open.
  @discardableResult
  public func unlockAccount(
    _ container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> AccountLock {
    try await evaluated(container).requireUnlockable()
    // Nothing that is opened is used: it shows who asks, also by a password that has to be changed, which is for later.
    _ = try await unlock(container, key: nil, by: authentication, evenIfExpired: true)
    let now = vault.clock.now
    try await change(container.id, isCounted: true) { notes throws(SignetFailure) in notes.unlock(at: now) }
    return try await evaluated(container).lock
  }

  // MARK: What a lock keeps from being done

  /// Evaluates the policies, and refuses where anything locks the container; else this counts as a use of it.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - isForCode: Whether a one-time code is wanted, which a server that asks for more does not take.
  /// - Throws: ``SignetFailure``: `accountLocked`, `codesNotTaken`.
  func requireUnlocked(
    _ container: Container, forCode isForCode: Bool = false
  ) async throws(SignetFailure) {
    let notes = try await evaluated(container)
    try notes.requireUnlocked()
    if isForCode, let reason = notes.stepUpReason { throw .codesNotTaken(reason: reason) }
    try await noteUse(of: container, notes)
  }

  /// Refuses where something has locked the container while its user was asked for a finger or a passcode, which may take a minute.
  ///
  /// - Throws: ``SignetFailure/accountLocked(_:)``.
  func requireStillUnlocked(_ container: Container) async throws(SignetFailure) {
    try await accountNotes(of: container.id).requireUnlocked()
  }

  /// A use is written down once an hour, and only where somebody asks for it.
  private func noteUse(of container: Container, _ notes: AccountNotes) async throws(SignetFailure) {
    let (policies, now) = (notes.policies ?? container.profile.accountPolicies, vault.clock.now)
    guard notes.isUseDue(under: policies, at: now) else { return }
    try await change(container.id) { notes throws(SignetFailure) in notes.used = AccountNotes.Moment(now) }
  }

  /// Notes that a container's server was reached, once in five minutes and where somebody asks for it.
  func noteContact(of id: Container.ID) async throws(SignetFailure) {
    let container = try await container(id)
    let notes = try await accountNotes(of: id)
    let (policies, now) = (notes.policies ?? container.profile.accountPolicies, vault.clock.now)
    guard notes.isContactDue(under: policies, at: now) else { return }
    try await change(id) { notes throws(SignetFailure) in notes.reached = AccountNotes.Moment(now) }
  }

  // MARK: Notes

  /// What is kept of a container's policies and locks.
  func accountNotes(of id: Container.ID) async throws(SignetFailure) -> AccountNotes {
    let stored = try await vaulted(await vault.container(id))
    return try ContainerNotes(parsing: stored.attributes.extra).account()
  }

  /// The notes after the policies were evaluated; what has changed is on the disk.
  func evaluated(_ container: Container) async throws(SignetFailure) -> AccountNotes {
    let notes = try await accountNotes(of: container.id)
    let policies = notes.policies ?? container.profile.accountPolicies
    guard !policies.isEmpty || !notes.lock.broken.isEmpty else {
      lockObservers.tell(AccountLockChange(subject: .container(container.id), lock: notes.lock))
      return notes
    }
    let evidence = await evidence(for: notes, since: container.created, isOfServer: true)
    let report = await accountPolicies.evaluator.evaluate(policies, evidence)
    var next = notes.lock
    guard next.apply(report, at: clock.now) else {
      lockObservers.tell(AccountLockChange(subject: .container(container.id), lock: next))
      return notes
    }
    let now = clock.now
    return try await change(container.id, isCounted: true) { notes throws(SignetFailure) in
      notes.lock.apply(report, at: now)
    }
  }

  /// Changes the notes of a container, with nobody changing them meanwhile.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: Whether an older copy of the vault could undo the change to somebody's advantage: a lock.
  ///   - notices: What the server has to hear of it, in the same step.
  ///   - body: Changes them.
  /// - Returns: The notes as they are now.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  func change(
    _ id: Container.ID, isCounted: Bool = false, leaving notices: [NoticeDraft] = [],
    _ body: @escaping @Sendable (inout AccountNotes) throws(SignetFailure) -> Void
  ) async throws(SignetFailure) -> AccountNotes {
    let changed = try await vaulted(
      await vault.changeExtra(of: id, isCounted: isCounted, leaving: notices) {
        (extra) throws(VaultFailure) -> Result<(before: AccountLock, notes: AccountNotes), SignetFailure> in
        var all = ContainerNotes(parsing: extra)
        do throws(SignetFailure) {
          var notes = try all.account()
          let before = notes.lock
          try body(&notes)
          all.setAccount(notes)
          extra = all.bytes
          return .success((before, notes))
        } catch { return .failure(error) }
      })
    let (before, notes) = try changed.get()
    lockObservers.tell(
      AccountLockChange(subject: .container(id), lock: notes.lock), isChanged: before != notes.lock)
    return notes
  }

  private func status(_ notes: AccountNotes, _ container: Container) -> AccountStatus {
    AccountStatus(
      notes, notes.policies ?? container.profile.accountPolicies, accountPolicies.evaluator.registry)
  }

  // MARK: Enrolment

  /// Refuses what a device is to be enrolled with where its policies are malformed, or broken now.
  ///
  /// - Parameter policies: Those that the new container, or the account, is to have.
  /// - Throws: ``SignetFailure``: `accountPolicy`, `accountPolicyBroken`.
  func requireCompliance(with policies: AccountPolicySet) async throws(SignetFailure) {
    guard !policies.isEmpty else { return }
    let evaluator = accountPolicies.evaluator
    do throws(AccountPolicyFailure) { try evaluator.registry.check(policies) } catch {
      throw .accountPolicy(error)
    }
    // It is used now, and its server is reached.
    var notes = AccountNotes()
    notes.used = AccountNotes.Moment(vault.clock.now)
    notes.reached = notes.used
    let evidence = await evidence(for: notes, since: clock.now, isOfServer: true)
    let report = await evaluator.evaluate(policies, evidence)
    guard report.isCompliant else { throw .accountPolicyBroken(report.breaches) }
  }
}
