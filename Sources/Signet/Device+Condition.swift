public import SignetPolicy
public import SignetVault

/// A credential slot of a container that the keystore can no longer open.
public struct LostCredential: Sendable, Hashable {
  /// The container; it must be activated again.
  public let container: LocalContainerID
  /// The kind of the slot.
  public let slot: SlotKind
  /// The failure of the keystore.
  public let failure: KeystoreFailure
}

/// Queries about a device and its containers that open nothing.
extension Device {
  /// Returns the credentials other than the password that were enabled for a container or one of its keys; they may not all work now.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: The credentials; empty if the device protects it alone.
  /// - Throws: ``SignetError``.
  public func enabledUnlockMethods(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> Set<UnlockMethod> {
    let domain = container.domain(of: key)
    let slots = try await vaulted(await vault.domains(of: container.id)).filter { $0.name == domain }
    var methods: Set<UnlockMethod> = []
    if slots.contains(where: { $0.slot == .biometric }) { methods.insert(.biometrics) }
    if slots.contains(where: { $0.slot == .devicePasscode }) { methods.insert(.passcode) }
    return methods
  }

  /// Returns the lock status of the password of a container or one of its keys: attempts left and the current wait.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: The status; `unlocked` if there is no password, or if the lock policy reveals nothing.
  /// - Throws: ``SignetError/wiped`` if the protected secrets were erased.
  public func lockStatus(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> LockStatus {
    let domain = container.domain(of: key)
    let domains = try await vaulted(await vault.domains(of: container.id)).filter {
      $0.name == domain
    }
    if domains.isEmpty {
      throw key.flatMap { container.hasOwnProtection($0) ? .key($0, .wiped) : nil } ?? .wiped
    }
    return domains.first { $0.slot == .password }?.status ?? .unlocked
  }

  /// Returns whether the password of a container or one of its keys has expired and must be changed.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: True if it has expired.
  /// - Throws: ``SignetError``.
  public func isPasswordExpired(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> Bool {
    do throws(SignetError) { try await refuseExpiredPassword(of: container, key) } catch {
      if case .passwordExpired = error { return true }
      throw error
    }
    return false
  }

  /// Finds the slots that the keystore can no longer open; call it when the app starts.
  ///
  /// Nothing is opened, and no attempt is counted.
  ///
  /// - Returns: The lost slots; their containers must be activated again.
  /// - Throws: ``SignetError``, in particular if the keystore is only temporarily unavailable.
  public func lostCredentials() async throws(SignetError) -> [LostCredential] {
    try await vaulted(await vault.lostSlots()).map {
      LostCredential(container: $0.container, slot: $0.slot, failure: $0.failure)
    }
  }

  /// Queries the keystore for its status.
  ///
  /// - Returns: The kind, and for hardware its manufacturer and its protection against guessing.
  /// - Throws: ``SignetError`` if it cannot be queried.
  public func keystoreStatus() async throws(SignetError) -> KeystoreStatus {
    try await vaulted(await vault.keystoreStatus())
  }

  /// Returns the latest time that the vault has recorded, in seconds since 1970, if the clock is now earlier: the clock was set back.
  ///
  /// - Returns: The time; `nil` if the clock is not behind it.
  /// - Throws: ``SignetError``.
  public func timeSeenAhead() async throws(SignetError) -> Int64? {
    var latest: Int64?
    for container in try await containers() {
      for domain in try await vaulted(await vault.domains(of: container.id)) {
        if let seenAt = domain.password?.seenAt { latest = max(latest ?? seenAt, seenAt) }
      }
    }
    guard let latest, latest > clock.now else { return nil }
    return latest
  }
}
