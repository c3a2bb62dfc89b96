import SignetCrypto
import SignetPolicy
public import SignetVault
import Synchronization

extension Device {
  /// Verifies the password of a container or of one of its keys, or what the user has enabled in its place, and keeps what that opens
  /// for the next signature if it opens the signing key and its password policy has the cache enabled.
  ///
  /// The password itself is not kept. ``decide(_:_:with:by:session:)`` needs nothing then, once, until the time that the
  /// policy gives is over, the cache is cleared, the machine sleeps or a clock is set.
  ///
  /// - Parameters:
  ///   - authentication: How the user shows who they are; `nil` where the device alone protects, which leaves nothing to verify.
  ///   - container: Whose.
  ///   - key: The key that has the password; `nil` for the container's own.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `passwordRequired`, `lockedOut`. What was kept before stays.
  public func verify(
    _ authentication: Authentication?, for container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) {
    let kept = cache(for: container)
    let beginning = kept.beginning
    let unlocked = try await unlock(container, key: key, by: authentication)
    guard container.domain(of: key) == container.domain(of: .transactionSigning),
      let cache = container.protection(of: key).passwordPolicy?.cache, cache.isEnabled
    else { return }
    // Where the cache was cleared meanwhile, the password was right all the same, and nothing is kept.
    kept.keep(
      unlocked, limits: SessionLimits(idleTimeout: nil, maximumAge: .seconds(cache.timeout)), since: beginning
    )
  }

  /// Forgets what ``verify(_:for:key:)`` kept, of all containers.
  ///
  /// - Parameter reason: Why; for example that the screen was locked.
  public func clearPasswordCache(because reason: LockReason = .requested) {
    for cache in passwordCaches.withLock({ Array($0.values) }) { cache.wipe(because: reason) }
  }

  /// Whether the next signature of a container needs no password, for now.
  public func hasCachedPassword(for container: Container) -> Bool {
    guard let cache = passwordCaches.withLock({ $0[container.id] }) else { return false }
    return cache.reason == nil
  }

  /// What opens the signing key for one signature: what the user gives, else what was kept of the last time.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What the user gives.
  ///   - isGuarded: Whether tampering refuses it; nobody is kept from saying no.
  /// - Returns: The open domain.
  /// - Throws: ``SignetFailure``.
  func unlockForSignature(
    _ container: Container, by authentication: Authentication?, isGuarded: Bool
  ) async throws(SignetFailure) -> UnlockedDomain {
    if authentication == nil, isGuarded { try await requireIntegrity() }
    if authentication == nil, let cached = passwordCaches.withLock({ $0[container.id] })?.take() {
      // Another process may have changed or locked the password since.
      try await vaulted(await vault.requireCurrent(cached.openedSlot))
      return cached
    }
    return try await unlock(
      container, key: .transactionSigning, by: authentication, isGuarded: isGuarded)
  }

  private func cache(for container: Container) -> CachedSecret<UnlockedDomain> {
    passwordCaches.withLock { caches in
      if let known = caches[container.id] { return known }
      let made = CachedSecret<UnlockedDomain>(clock: vault.clock)
      caches[container.id] = made
      return made
    }
  }

  /// What the keys of a group's data come from; the container is open only as long as that takes.
  func appDataGroupKey(
    of container: Container, _ group: AppGroup, by authentication: Authentication?
  ) async throws(SignetFailure) -> OpenedGroup {
    // Whoever has a sealed text could tell with it which password is right.
    if case .silent = container.profile.protection.lockPolicy { throw .appData(.silentLock) }
    let unlocked = try await unlock(container, by: authentication)
    let root = try await vaulted(
      await vault.randomRecord(
        VaultLayout.appDataKey, byteCount: AppDataGroupKey.rootByteCount, in: unlocked))
    guard root.byteCount == AppDataGroupKey.rootByteCount else { throw .vault(.damaged) }
    return OpenedGroup(key: AppDataGroupKey(root: root, group: group), slot: unlocked.openedSlot)
  }
}

/// The key of a group's app data, with what it was opened by.
struct OpenedGroup: ~Copyable, Sendable {
  let key: AppDataGroupKey
  let slot: OpenedSlot
}
