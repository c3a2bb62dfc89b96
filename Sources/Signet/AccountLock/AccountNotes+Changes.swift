import SignetPolicy
import SignetVault

// What is done with the notes of a container and of an account alike.
extension AccountNotes {
  /// How often a use is written down, in seconds.
  private static let useInterval: Int64 = 3_600
  /// How often a contact is written down, in seconds.
  private static let contactInterval: Int64 = 300

  // MARK: Uses and contacts

  /// Whether a use is to be written down: somebody asks for it, and it was not just before.
  func isUseDue(under policies: AccountPolicySet, at now: TrustedTime) -> Bool {
    policies[InactivityPolicy.policyName] != nil && Self.isDue(used, every: Self.useInterval, at: now)
  }

  /// Whether a contact is to be written down: somebody asks for it, and it was not just before.
  func isContactDue(under policies: AccountPolicySet, at now: TrustedTime) -> Bool {
    policies[OfflinePeriodPolicy.policyName] != nil
      && Self.isDue(reached, every: Self.contactInterval, at: now)
  }

  private static func isDue(_ last: Moment?, every interval: Int64, at now: TrustedTime) -> Bool {
    last.map { $0.seconds(until: now) >= interval || $0.isAhead(of: now) } ?? true
  }

  // MARK: Policies

  /// Sets the policies; the time of those that count it begins where they are new.
  ///
  /// - Parameters:
  ///   - policies: The policies.
  ///   - before: Those that counted so far.
  ///   - now: The time.
  mutating func set(_ policies: AccountPolicySet, inPlaceOf before: AccountPolicySet, at now: TrustedTime) {
    // What was not asked for was not written down either.
    func isNew(_ name: String) -> Bool { policies[name] != nil && before[name] == nil }
    if isNew(InactivityPolicy.policyName) { used = Moment(now) }
    if isNew(OfflinePeriodPolicy.policyName) { reached = Moment(now) }
    self.policies = policies
  }

  /// Adds those of these policies that are not there; what is there stays as it is.
  ///
  /// - Throws: ``SignetFailure/accountPolicy(_:)`` where both together are more than there may be.
  mutating func add(_ more: AccountPolicySet, at now: TrustedTime) throws(SignetFailure) {
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

  // MARK: Locks by hand

  /// Locks by hand.
  ///
  /// - Throws: ``SignetFailure/accountLock(_:)``.
  mutating func lock(
    naming policy: String?, of policies: AccountPolicySet, reason: String, at now: Int64
  ) throws(SignetFailure) {
    do throws(AccountLockFailure) {
      try lock.lock(naming: policy, of: policies, reason: reason, at: now)
    } catch { throw .accountLock(error) }
  }

  /// Whether something locks it that whoever can open it may end: a lock by hand, or one for inactivity.
  var canBeUnlocked: Bool {
    lock.manual != nil || lock.broken.contains { $0.breach.policy == InactivityPolicy.policyName }
  }

  /// Refuses where nothing locks it that could be ended here.
  ///
  /// - Throws: ``SignetFailure/accountLock(_:)``.
  func requireUnlockable() throws(SignetFailure) {
    guard !canBeUnlocked else { return }
    throw .accountLock(lock.isLocked ? .lockedBy(lock.sources.sorted()) : .notLocked)
  }

  /// Ends what whoever can open it may end; to unlock is a use.
  mutating func unlock(at now: TrustedTime) {
    // Another process may have ended it meanwhile.
    if lock.manual != nil { do { try lock.unlock() } catch {} }
    used = Moment(now)
  }

  /// Refuses where anything locks it.
  ///
  /// - Throws: ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked() throws(SignetFailure) {
    guard !lock.isLocked else { throw .accountLocked(lock) }
  }
}
