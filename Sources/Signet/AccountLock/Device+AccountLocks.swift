import SignetCrypto
public import SignetPolicy
import SignetVault

extension Device {
  /// A stream of later lock changes of containers and imported accounts, made by this process or found after a change by another.
  ///
  /// Each call returns a separate stream. Up to 64 unread changes are kept.
  public var accountLockChanges: AsyncStream<AccountLockChange> { lockObservers.changes }

  /// Returns the policies and locks of a container from the last evaluation; nothing is evaluated.
  ///
  /// - Parameter container: The container.
  /// - Returns: Its status.
  /// - Throws: ``SignetError``.
  public func accountStatus(of container: Container) async throws(SignetError) -> AccountStatus {
    status(try await accountState(of: container.id), container)
  }

  /// Evaluates the policies of a container, and locks or unlocks it accordingly.
  ///
  /// - Parameter container: The container.
  /// - Returns: Its status.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func evaluateAccountPolicies(
    of container: Container
  ) async throws(SignetError) -> AccountStatus {
    status(try await evaluated(container), container)
  }

  /// Evaluates the policies of all containers and imported accounts; call it when the app starts or comes to the foreground.
  ///
  /// - Returns: The status of each container that has policies or locks.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func evaluateAccountPolicies() async throws(SignetError) -> [Container.ID: AccountStatus] {
    var found: [Container.ID: AccountStatus] = [:]
    for container in try await containers() {
      let status = try await evaluateAccountPolicies(of: container)
      if !status.policies.isEmpty || status.lock.isLocked { found[container.id] = status }
    }
    try await accounts.evaluatePolicies()
    return found
  }

  /// Locks a container manually, until it is unlocked; its policies do not affect this lock.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - policy: The policy that is the cause, one of the container's; `nil` for none.
  ///   - reason: The reason; may be empty.
  /// - Returns: The locks in effect now.
  /// - Throws: ``SignetError/accountLock(_:)`` if it already has a manual lock, or has no such policy.
  @discardableResult
  public func lockAccount(
    _ container: Container, naming policy: String? = nil, reason: String = ""
  ) async throws(SignetError) -> AccountLock {
    let (now, profile) = (clock.now, container.profile.accountPolicies)
    return try await change(container.id, isCounted: true) { state throws(SignetError) in
      try state.lock(naming: policy, of: state.policies ?? profile, reason: reason, at: now)
    }.lock
  }

  /// Removes a manual lock and a lock for inactivity; the call counts as a use.
  ///
  /// Locks of the server, and of policies that are still broken, stay.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the container; required if the device cannot open it alone.
  /// - Returns: The locks in effect after an evaluation of the policies.
  /// - Throws: ``SignetError/accountLock(_:)`` if no lock can be removed here, or the failure to open the container.
  @discardableResult
  public func unlockAccount(
    _ container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> AccountLock {
    try await evaluated(container).requireUnlockable()
    // The opened keys are not used. Opening only authenticates the user, so a password that must be changed is accepted too.
    _ = try await unlock(container, key: nil, by: authentication, evenIfExpired: true)
    let now = vault.clock.now
    try await change(container.id, isCounted: true) { state throws(SignetError) in state.unlock(at: now) }
    return try await evaluated(container).lock
  }

  // MARK: Lock checks

  /// Evaluates the policies and throws if the container is locked; otherwise the call counts as a use of the container.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - isForCode: True for a one-time code, which the server may not accept for now.
  /// - Throws: ``SignetError``: `accountLocked`, `codesNotAccepted`.
  package func requireUnlocked(
    _ container: Container, forCode isForCode: Bool = false
  ) async throws(SignetError) {
    let state = try await evaluated(container)
    try state.requireUnlocked()
    if isForCode, let reason = state.stepUpReason { throw .codesNotAccepted(reason: reason) }
    try await recordUse(of: container, state)
  }

  /// Throws if the container was locked during the biometric or passcode prompt, which may take a minute.
  ///
  /// - Throws: ``SignetError/accountLocked(_:)``.
  func requireStillUnlocked(_ container: Container) async throws(SignetError) {
    try await accountState(of: container.id).requireUnlocked()
  }

  /// Stores a use at most once an hour, and only if a policy depends on it.
  private func recordUse(of container: Container, _ state: AccountState) async throws(SignetError) {
    let (policies, now) = (state.policies ?? container.profile.accountPolicies, vault.clock.now)
    guard state.isUseDue(under: policies, at: now) else { return }
    try await change(container.id) { state throws(SignetError) in state.used = AccountState.Moment(now) }
  }

  /// Stores a contact with the server at most once in five minutes, and only if a policy depends on it.
  func recordContact(of container: Container, _ state: AccountState) async throws(SignetError) {
    let (policies, now) = (state.policies ?? container.profile.accountPolicies, vault.clock.now)
    guard state.isContactDue(under: policies, at: now) else { return }
    try await change(container.id) { state throws(SignetError) in state.reached = AccountState.Moment(now) }
  }

  // MARK: Stored state

  /// Returns the stored state of a container's policies and locks.
  func accountState(of id: Container.ID) async throws(SignetError) -> AccountState {
    try await metadata(of: id).account()
  }

  /// Evaluates the policies, stores a changed lock and returns the state.
  func evaluated(_ container: Container) async throws(SignetError) -> AccountState {
    let state = try await accountState(of: container.id)
    let policies = state.policies ?? container.profile.accountPolicies
    guard !policies.isEmpty || !state.lock.broken.isEmpty else {
      lockObservers.publish(AccountLockChange(subject: .container(container.id), lock: state.lock))
      return state
    }
    let evidence = await evidence(for: state, since: container.created, isOfServer: true)
    let report = await accountPolicies.evaluator.evaluate(policies, evidence)
    var next = state.lock
    guard next.apply(report, at: clock.now) else {
      lockObservers.publish(AccountLockChange(subject: .container(container.id), lock: next))
      return state
    }
    let now = clock.now
    return try await change(container.id, isCounted: true) { state throws(SignetError) in
      state.lock.apply(report, at: now)
    }
  }

  /// Changes the stored state of a container in one transaction.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: True for a security-relevant change such as a lock, which must not be undone by restoring an older
  ///     copy of the vault.
  ///   - notices: The notices to the server, stored in the same transaction.
  ///   - body: Changes the state.
  /// - Returns: The state after the change.
  /// - Throws: ``SignetError``.
  @discardableResult
  func change(
    _ id: Container.ID, isCounted: Bool = false, leaving notices: [NoticeDraft] = [],
    _ body: @escaping @Sendable (inout AccountState) throws(SignetError) -> Void
  ) async throws(SignetError) -> AccountState {
    let changed = try await vaulted(
      await vault.changeExtra(of: id, isCounted: isCounted, leaving: notices) {
        (extra) throws(VaultFailure) -> Result<(before: AccountLock, state: AccountState), SignetError> in
        var all = ContainerMetadata(parsing: extra)
        do throws(SignetError) {
          var state = try all.account()
          let before = state.lock
          try body(&state)
          all.setAccount(state)
          extra = all.bytes
          return .success((before, state))
        } catch { return .failure(error) }
      })
    let (before, state) = try changed.get()
    lockObservers.publish(
      AccountLockChange(subject: .container(id), lock: state.lock), isChanged: before != state.lock)
    return state
  }

  private func status(_ state: AccountState, _ container: Container) -> AccountStatus {
    AccountStatus(
      state, state.policies ?? container.profile.accountPolicies, accountPolicies.evaluator.registry)
  }

  // MARK: Enrolment

  /// Rejects an enrolment whose policies are malformed or not met by this device now.
  ///
  /// - Parameter policies: The policies of the new container or account.
  /// - Throws: ``SignetError``: `accountPolicy`, `accountPolicyBroken`.
  func requireCompliance(with policies: AccountPolicySet) async throws(SignetError) {
    guard !policies.isEmpty else { return }
    let evaluator = accountPolicies.evaluator
    do throws(AccountPolicyFailure) { try evaluator.registry.check(policies) } catch {
      throw .accountPolicy(error)
    }
    // The enrolment counts as a use and as a contact with the server.
    var state = AccountState()
    state.used = AccountState.Moment(vault.clock.now)
    state.reached = state.used
    let evidence = await evidence(for: state, since: clock.now, isOfServer: true)
    let report = await evaluator.evaluate(policies, evidence)
    guard report.isCompliant else { throw .accountPolicyBroken(report.breaches) }
  }
}
