public import SignetPolicy
public import SignetVault

/// A container of which a way of opening is lost for good, because the keystore cannot open it any more.
public struct LostCredential: Sendable, Hashable {
  /// The container; it has to be activated anew.
  public let container: SignetVault.ContainerID
  /// The way of opening it.
  public let way: SlotKind
  /// What the keystore says.
  public let failure: KeystoreFailure
}

/// What can be said of a device and its containers without opening anything.
extension Device {
  /// The ways that open what a container's protection policy protects; which of them work now is another question.
  ///
  /// - Parameter container: Which one.
  /// - Returns: `device` or `password`, and what was enabled beside it.
  /// - Throws: ``SignetFailure``.
  public func enabledWays(of container: Container) async throws(SignetFailure) -> Set<SlotKind> {
    let ways = try await vaulted(await vault.domains(of: container.id))
    return Set(ways.filter { $0.name == VaultLayout.user }.map(\.slot))
  }

  /// Whether a container's password may be tried now, and how often.
  ///
  /// - Parameter container: Which one.
  /// - Returns: The status; `unlocked` where there is no password, and where nothing tells.
  /// - Throws: ``SignetFailure/wiped`` where what the password protected was erased.
  public func lockStatus(of container: Container) async throws(SignetFailure) -> LockStatus {
    let domains = try await vaulted(await vault.domains(of: container.id)).filter {
      $0.name == VaultLayout.user
    }
    if domains.isEmpty { throw .wiped }
    return domains.first { $0.slot == .password }?.status ?? .unlocked
  }

  /// Whether a container's password is older than its policy allows, and has to be changed.
  ///
  /// - Parameter container: Which one.
  /// - Returns: Whether it is.
  /// - Throws: ``SignetFailure``.
  public func isPasswordExpired(of container: Container) async throws(SignetFailure) -> Bool {
    do throws(SignetFailure) { try await refuseExpiredPassword(of: container) } catch {
      if case .passwordExpired = error { return true }
      throw error
    }
    return false
  }

  /// Looks for what the keystore cannot open any more: call it when the app starts.
  ///
  /// Nothing is opened, and no attempt is made.
  ///
  /// - Returns: What is lost: these containers have to be activated anew.
  /// - Throws: ``SignetFailure``, above all where the keystore is only out of reach for now.
  public func lostCredentials() async throws(SignetFailure) -> [LostCredential] {
    try await vaulted(await vault.lostCredentials()).map {
      LostCredential(container: $0.container, way: $0.slot, failure: $0.failure)
    }
  }

  /// What the keystore says of itself.
  ///
  /// - Returns: The kind, and for hardware its maker and its defence against guessing.
  /// - Throws: ``SignetFailure`` where it cannot be asked.
  public func keystoreStatus() async throws(SignetFailure) -> KeystoreStatus {
    try await vaulted(await vault.keystoreStatus())
  }

  /// The latest time that the vault has seen, in seconds since 1970, if it is later than the clock says: the clock was turned
  /// back.
  ///
  /// - Returns: That time; `nil` where the clock is ahead of all that was seen.
  /// - Throws: ``SignetFailure``.
  public func timeSeenAhead() async throws(SignetFailure) -> Int64? {
    var latest: Int64?
    for container in try await containers() {
      for domain in try await vaulted(await vault.domains(of: container.id)) {
        if let seen = domain.password?.seenAt { latest = max(latest ?? seen, seen) }
      }
    }
    guard let latest, latest > clock.now else { return nil }
    return latest
  }
}
