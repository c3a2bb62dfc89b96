public import SignetVault

/// A session of this process: unlocked with what the container's protection policy asks, good for a while.
///
/// While it is unlocked it holds one key, from which those of the app's data come; what opened the container is wiped before
/// ``unlock(by:)`` returns. When it is locked, by whatever reason, that key and all keys that it gave out are wiped.
///
/// A transaction is not signed with a session: that takes an authentication, or one that ``Device/verify(_:for:key:)``
/// has just made.
public final class Session: SharedSession {
  /// Whose session it is.
  public let container: Container
  /// The apps that share the data.
  public let group: AppGroup
  /// How long it stays unlocked.
  public let limits: SessionLimits
  private let device: Device
  private let issued: IssuedKeys
  private let kept: CachedSecret<OpenedGroup>

  /// Makes a session that is locked; the clock of the device's vault measures how long it stays unlocked.
  ///
  /// - Parameters:
  ///   - container: Whose session.
  ///   - device: Where the container is.
  ///   - group: The apps that share the data; each group has its own keys.
  ///   - limits: How long it stays unlocked.
  ///   - onLock: Called each time the session was unlocked and is locked now.
  public init(
    for container: Container, on device: Device, group: AppGroup = .standard,
    limits: SessionLimits = .standard,
    onLock: @escaping @Sendable (LockReason) -> Void = { _ in }
  ) {
    (self.container, self.device, self.group, self.limits) = (container, device, group, limits)
    let issued = IssuedKeys()
    self.issued = issued
    kept = CachedSecret(clock: device.vault.clock) { reason in
      issued.revoke(because: reason)
      onLock(reason)
    }
    device.sessions.add(self)
  }

  deinit { issued.revoke(because: .ending) }

  /// Whether it is unlocked.
  public func state() -> SessionState { kept.reason.map { .locked($0) } ?? .unlocked }

  /// Unlocks; where it is unlocked, authenticates again.
  ///
  /// - Parameter authentication: How the user shows who they are; `nil` where the device alone protects.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `passwordRequired`, `lockedOut`. What was unlocked stays so. ``appData(_:)``
  ///   with `locked` where it was locked while the password was tried; ``SignetFailure/integrity(_:)`` where the program is tampered with,
  ///   which locks it, too, if that is the reaction.
  public func unlock(by authentication: Authentication? = nil) async throws(SignetFailure) {
    let beginning = kept.beginning
    let opened = try await device.appDataGroupKey(of: container, group, by: authentication)
    if let reason = kept.keep(opened, limits: limits, since: beginning) { throw .appData(.locked(reason)) }
  }

  /// Locks on request.
  public func lock() { lock(because: .requested) }

  /// Locks, as when the screen is locked or the machine is about to sleep.
  public func lock(because reason: LockReason) { kept.wipe(because: reason) }

  /// The key of a new text.
  ///
  /// - Parameter label: What the text is, 1 to 256 bytes of UTF-8; the same bytes are needed to decrypt it.
  /// - Returns: A key of its own, good until the session is locked.
  /// - Throws: ``SignetFailure/appData(_:)``: `locked`, `invalidLabel`.
  public func newTextKey(label: String) async throws(SignetFailure) -> AppDataKey {
    try await key { (group) throws(AppDataFailure) in try group.newKey(label: label) }
  }

  /// The key of a text that was encrypted before.
  ///
  /// - Parameters:
  ///   - label: What it was encrypted with.
  ///   - header: Its first ``AppDataFormat/headerByteCount`` bytes, or more.
  /// - Returns: Its key, good until the session is locked.
  /// - Throws: ``SignetFailure/appData(_:)``.
  public func textKey(label: String, header: [UInt8]) async throws(SignetFailure) -> AppDataKey {
    try await key { (group) throws(AppDataFailure) in
      try group.textKey(label: label, salt: AppDataFormat.salt(inHeader: header))
    }
  }

  /// Locks where the password was changed, locked or erased since, by whatever process.
  private func requireCurrent() async throws(SignetFailure) {
    guard let slot = kept.withSecret({ $0.slot }) else { return }
    do throws(VaultFailure) { try await device.vault.requireCurrent(slot, askingHardware: false) } catch {
      switch error {
      case .busy, .diskFull, .storage, .keystore: break
      default: lock(because: .changedElsewhere)
      }
      if error == .outdated(domain: VaultLayout.user) { throw .appData(.locked(.changedElsewhere)) }
      throw SignetFailure(error)
    }
  }

  private func key(
    _ derive: (borrowing AppDataGroupKey) throws(AppDataFailure) -> AppDataKey
  ) async throws(SignetFailure) -> AppDataKey {
    try await requireCurrent()
    let made: AppDataKey?
    do throws(AppDataFailure) {
      made = try kept.withSecret { (opened) throws(AppDataFailure) in
        let key = try derive(opened.key)
        // Noted before the session can be locked, so that no key outlives it.
        issued.note(key)
        return key
      }
    } catch { throw .appData(error) }
    guard let made else { throw .appData(.locked(kept.reason ?? .requested)) }
    return made
  }
}
