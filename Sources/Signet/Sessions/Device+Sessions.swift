import SignetCrypto
import SignetPolicy
public import SignetVault
import Synchronization

extension Device {
  /// Verifies a password of a container or key, or its biometric or other replacement, and caches the opened signing key
  /// for one signature.
  ///
  /// The key is cached only if the credential opens the signing key and its password policy enables the cache. The password
  /// itself is not kept. The next call of ``decide(_:_:number:deviceContext:with:by:session:)`` then needs no credential, once.
  /// The cache ends with the time-out of the policy, when it is cleared, when the machine sleeps and when a clock is set.
  ///
  /// - Parameters:
  ///   - authentication: The credential; `nil` if the device protects the container alone, then there is nothing to verify.
  ///   - container: The container.
  ///   - key: The key with the password; `nil` for the container's own password.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `passwordRequired`, `lockedOut`. An earlier cached key stays.
  public func verify(
    _ authentication: Authentication?, for container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) {
    let passwordCache = cache(for: container)
    let beginning = passwordCache.beginning
    let unlocked = try await unlock(container, key: key, by: authentication)
    guard container.domain(of: key) == container.domain(of: .transactionSigning),
      let cache = container.protection(of: key).passwordPolicy?.cache, cache.isEnabled
    else { return }
    // If the cache was cleared in the meantime, the verification still succeeds, but nothing is cached.
    passwordCache.keep(
      unlocked, limits: SessionLimits(idleTimeout: nil, maximumAge: .seconds(cache.timeout)), since: beginning
    )
  }

  /// Wipes the keys that ``verify(_:for:key:)`` cached, of all containers.
  ///
  /// - Parameter reason: The reason, for example that the screen was locked.
  public func clearPasswordCache(because reason: LockReason = .requested) {
    for cache in passwordCaches.withLock({ Array($0.values) }) { cache.wipe(because: reason) }
  }

  /// Indicates whether the next signature of a container needs no password at the moment.
  public func hasCachedPassword(for container: Container) -> Bool {
    guard let cache = passwordCaches.withLock({ $0[container.id] }) else { return false }
    return cache.reason == nil
  }

  /// Opens the domain of the signing key for one signature, with a credential or from the cache.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential; `nil` to use the cache.
  ///   - isGuarded: True to fail on tampering; false for a denial, which is always possible.
  /// - Returns: The open domain.
  /// - Throws: ``SignetError``.
  func unlockForSignature(
    _ container: Container, by authentication: Authentication?, isGuarded: Bool
  ) async throws(SignetError) -> UnlockedDomain {
    if authentication == nil, isGuarded { try await requireIntegrity() }
    if authentication == nil, let cached = passwordCaches.withLock({ $0[container.id] })?.take() {
      // Another process may have changed or locked the password in the meantime.
      try await vaulted(await vault.requireCurrent(cached.openedSlot))
      return cached
    }
    return try await unlock(
      container, key: .transactionSigning, by: authentication, isGuarded: isGuarded)
  }

  private func cache(for container: Container) -> CachedSecret<UnlockedDomain> {
    passwordCaches.withLock { caches in
      if let existing = caches[container.id] { return existing }
      let made = CachedSecret<UnlockedDomain>(clock: vault.clock)
      caches[container.id] = made
      return made
    }
  }

  /// Returns the root key of a group's app data; the container is open only during this call.
  func appDataGroupKey(
    of container: Container, _ group: AppGroup, by authentication: Authentication?
  ) async throws(SignetError) -> OpenedGroup {
    // Under a silent lock policy, encrypted data would tell an attacker which password is right.
    if case .silent = container.profile.protection.lockPolicy { throw .appData(.silentLock) }
    let unlocked = try await unlock(container, by: authentication)
    let root = try await vaulted(
      await vault.randomRecord(
        VaultLayout.appDataKey, byteCount: AppDataGroupKey.rootByteCount, in: unlocked))
    guard root.byteCount == AppDataGroupKey.rootByteCount else { throw .vault(.damaged) }
    return OpenedGroup(key: AppDataGroupKey(root: root, group: group), slot: unlocked.openedSlot)
  }
}

/// The key of a group's app data, with the slot that opened it.
struct OpenedGroup: ~Copyable, Sendable {
  let key: AppDataGroupKey
  let slot: OpenedSlot
}
