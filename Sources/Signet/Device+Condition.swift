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
  /// The ways beside the password that were enabled for a container, or for one of its keys; which of them work now is another question.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Returns: The ways; none where the device alone protects.
  /// - Throws: ``SignetFailure``.
  public func enabledWays(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) -> Set<WayBesidePassword> {
    let domain = container.domain(of: key)
    let slots = try await vaulted(await vault.domains(of: container.id)).filter { $0.name == domain }
    var ways: Set<WayBesidePassword> = []
    if slots.contains(where: { $0.slot == .biometric }) { ways.insert(.biometrics) }
    if slots.contains(where: { $0.slot == .devicePasscode }) { ways.insert(.passcode) }
    return ways
  }

  /// Whether the password of a container, or of one of its keys, may be tried now, and how often.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Returns: The status; `unlocked` where there is no password, and where nothing tells.
  /// - Throws: ``SignetFailure/wiped`` where what the password protected was erased.
  public func lockStatus(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) -> LockStatus {
    let domain = container.domain(of: key)
    let domains = try await vaulted(await vault.domains(of: container.id)).filter {
      $0.name == domain
    }
    if domains.isEmpty {
      throw key.flatMap { container.hasOwnProtection($0) ? .key($0, .wiped) : nil } ?? .wiped
    }
    return domains.first { $0.slot == .password }?.status ?? .unlocked
  }

  /// Whether the password of a container, or of one of its keys, is older than its policy allows, and has to be changed.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Returns: Whether it is.
  /// - Throws: ``SignetFailure``.
  public func isPasswordExpired(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) -> Bool {
    do throws(SignetFailure) { try await refuseExpiredPassword(of: container, key) } catch {
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
