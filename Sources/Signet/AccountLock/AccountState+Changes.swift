import SignetPolicy
import SignetVault

// Operations on the state of containers and accounts alike.
extension AccountState {
  /// The minimum interval between two stored uses, in seconds.
  private static let useInterval: Int64 = 3_600
  /// The minimum interval between two stored contacts, in seconds.
  private static let contactInterval: Int64 = 300

  // MARK: Uses and contacts

  /// Indicates whether a use must be stored: a policy depends on it, and the last stored use is old enough.
  func isUseDue(under policies: AccountPolicySet, at now: TrustedTime) -> Bool {
    policies[InactivityPolicy.policyName] != nil && Self.isDue(used, every: Self.useInterval, at: now)
  }

  /// Indicates whether a contact must be stored: a policy depends on it, and the last stored contact is old enough.
  func isContactDue(under policies: AccountPolicySet, at now: TrustedTime) -> Bool {
    policies[OfflinePeriodPolicy.policyName] != nil
      && Self.isDue(reached, every: Self.contactInterval, at: now)
  }

  private static func isDue(_ last: Moment?, every interval: Int64, at now: TrustedTime) -> Bool {
    last.map { $0.seconds(until: now) >= interval || $0.isAhead(of: now) } ?? true
  }

  // MARK: Policies

  /// Replaces the policies; the time of a policy that is new starts now.
  ///
  /// - Parameters:
  ///   - policies: The new policies.
  ///   - before: The policies in effect so far.
  ///   - now: The time.
  mutating func set(_ policies: AccountPolicySet, inPlaceOf before: AccountPolicySet, at now: TrustedTime) {
    // Uses and contacts were not stored while no policy needed them.
    func isNew(_ name: String) -> Bool { policies[name] != nil && before[name] == nil }
    if isNew(InactivityPolicy.policyName) { used = Moment(now) }
    if isNew(OfflinePeriodPolicy.policyName) { reached = Moment(now) }
    self.policies = policies
  }

  /// Adds the missing ones of these policies; existing policies stay unchanged.
  ///
  /// - Throws: ``SignetError/accountPolicy(_:)`` if the combined policies exceed the limits.
  mutating func add(_ more: AccountPolicySet, at now: TrustedTime) throws(SignetError) {
    let before = policies ?? AccountPolicySet()
    var json = before.json
    for (name, value) in more.json.members where !json.contains(name) { json[name] = value }
    guard json.count > before.json.count else { return }
    let both: AccountPolicySet
    do throws(AccountPolicyFailure) { both = try AccountPolicySet(json) } catch {
      throw .accountPolicy(error)
    }
    set(both, inPlaceOf: before, at: now)
  }

  // MARK: Manual locks

  /// Adds a manual lock.
  ///
  /// - Throws: ``SignetError/accountLock(_:)``.
  mutating func lock(
    naming policy: String?, of policies: AccountPolicySet, reason: String, at now: Int64
  ) throws(SignetError) {
    do throws(AccountLockFailure) {
      try lock.lock(naming: policy, of: policies, reason: reason, at: now)
    } catch { throw .accountLock(error) }
  }

  /// Indicates whether the user can remove a lock: a manual lock, or one for inactivity.
  var canBeUnlocked: Bool {
    lock.manual != nil || lock.broken.contains { $0.breach.policy == InactivityPolicy.policyName }
  }

  /// Requires a lock that the user can remove.
  ///
  /// - Throws: ``SignetError/accountLock(_:)``.
  func requireUnlockable() throws(SignetError) {
    guard !canBeUnlocked else { return }
    throw .accountLock(lock.isLocked ? .lockedBy(lock.sources.sorted()) : .notLocked)
  }

  /// Removes the manual lock and records a use, which ends a lock for inactivity.
  mutating func unlock(at now: TrustedTime) {
    // Another process may have removed it in the meantime.
    if lock.manual != nil { do { try lock.unlock() } catch {} }
    used = Moment(now)
  }

  /// Requires that no lock is in effect.
  ///
  /// - Throws: ``SignetError/accountLocked(_:)``.
  func requireUnlocked() throws(SignetError) {
    guard !lock.isLocked else { throw .accountLocked(lock) }
  }
}
