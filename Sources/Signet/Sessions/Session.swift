public import SignetVault
import Synchronization

/// A session of this process: unlocked with the credential that the container's protection policy requires, for a limited time.
///
/// While unlocked, it holds one key, from which the keys of the app's data are derived; the secrets that opened the container
/// are wiped before ``unlock(by:)`` returns. When it is locked, for any reason, that key and all issued keys are wiped.
///
/// A session does not sign transactions. A signature needs a credential, or one that ``Device/verify(_:for:key:)`` has just verified.
public final class Session: SharedSession {
  /// The container of the session.
  public let container: Container
  /// The apps that share the data.
  public let group: AppGroup
  /// The limits of the time that it stays unlocked.
  public let limits: SessionLimits
  private let device: Device
  private let issued: IssuedKeys
  private let cachedGroup: CachedSecret<OpenedGroup>

  /// Creates a locked session; the clock of the device's vault measures its limits.
  ///
  /// - Parameters:
  ///   - container: The container of the session.
  ///   - device: The device with the container.
  ///   - group: The apps that share the data; each group has its own keys.
  ///   - limits: The limits of the time that it stays unlocked.
  ///   - onLock: Called each time an unlocked session is locked.
  public init(
    for container: Container, on device: Device, group: AppGroup = .standard,
    limits: SessionLimits = .standard,
    onLock: @escaping @Sendable (LockReason) -> Void = { _ in }
  ) {
    self.container = container
    self.device = device
    self.group = group
    self.limits = limits
    let issued = IssuedKeys()
    self.issued = issued
    cachedGroup = CachedSecret(clock: device.vault.clock) { reason in
      issued.revoke(because: reason)
      onLock(reason)
    }
    device.sessions.add(self)
  }

  deinit { issued.revoke(because: .ending) }

  /// Returns whether the session is unlocked, with the reason if it is locked.
  public func state() -> SessionState { cachedGroup.reason.map { .locked($0) } ?? .unlocked }

  /// Unlocks the session; if it is unlocked, authenticates again.
  ///
  /// - Parameter authentication: The credential; `nil` if the device protects the container alone.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `passwordRequired`, `lockedOut`. An unlocked session
  ///   stays unlocked. ``SignetError/appData(_:)`` with `locked` if it was locked during the verification.
  ///   ``SignetError/integrity(_:)`` on tampering, which also locks the session if that is the reaction.
  public func unlock(by authentication: Authentication? = nil) async throws(SignetError) {
    let beginning = cachedGroup.beginning
    let opened = try await device.appDataGroupKey(of: container, group, by: authentication)
    if let reason = cachedGroup.keep(opened, limits: limits, since: beginning) {
      throw .appData(.locked(reason))
    }
  }

  /// Locks the session on request.
  public func lock() { lock(because: .requested) }

  /// Locks the session, for example because the screen was locked or the machine is about to sleep.
  public func lock(because reason: LockReason) { cachedGroup.wipe(because: reason) }

  /// Derives the key of a new text.
  ///
  /// - Parameter label: The label of the text, 1 to 256 bytes of UTF-8; decryption needs the same bytes.
  /// - Returns: A new key, usable until the session is locked.
  /// - Throws: ``SignetError/appData(_:)``: `locked`, `invalidLabel`.
  public func newTextKey(label: String) async throws(SignetError) -> AppDataKey {
    try await key { (group) throws(AppDataFailure) in try group.newKey(label: label) }
  }

  /// Derives the key of an encrypted text.
  ///
  /// - Parameters:
  ///   - label: The label from its encryption.
  ///   - header: Its first ``AppDataFormat/headerByteCount`` bytes, or more.
  /// - Returns: Its key, usable until the session is locked.
  /// - Throws: ``SignetError/appData(_:)``.
  public func textKey(label: String, header: [UInt8]) async throws(SignetError) -> AppDataKey {
    try await key { (group) throws(AppDataFailure) in
      try group.textKey(label: label, salt: AppDataFormat.salt(inHeader: header))
    }
  }

  /// Locks the session if any process has changed, locked or erased the password since it was unlocked.
  private func requireCurrent() async throws(SignetError) {
    guard let slot = cachedGroup.withSecret({ $0.slot }) else { return }
    do throws(VaultFailure) { try await device.vault.requireCurrent(slot, askingHardware: false) } catch {
      switch error {
      case .busy, .diskFull, .storage, .keystore: break
      default: lock(because: .changedElsewhere)
      }
      if error == .outdated(domain: VaultLayout.user) { throw .appData(.locked(.changedElsewhere)) }
      throw SignetError(error)
    }
  }

  private func key(
    _ derive: (borrowing AppDataGroupKey) throws(AppDataFailure) -> AppDataKey
  ) async throws(SignetError) -> AppDataKey {
    try await requireCurrent()
    let made: AppDataKey?
    do throws(AppDataFailure) {
      made = try cachedGroup.withSecret { (opened) throws(AppDataFailure) in
        let key = try derive(opened.key)
        // Recorded before the session can be locked, so that no key outlives it.
        issued.record(key)
        return key
      }
    } catch { throw .appData(error) }
    guard let made else { throw .appData(.locked(cachedGroup.reason ?? .requested)) }
    return made
  }
}

/// The keys that a session has issued and that are still in use.
package final class IssuedKeys: Sendable {
  private struct Entry { weak var key: AppDataKey? }
  private let entries = Mutex<[Entry]>([])

  /// Creates an empty list.
  package init() {}

  /// Records a key, for as long as it is in use.
  package func record(_ key: AppDataKey) {
    entries.withLock { entries in
      // Cleaned before each growth, so the list is at most about as long as the number of keys in use.
      if entries.count == entries.capacity { entries.removeAll { $0.key == nil } }
      entries.append(Entry(key: key))
    }
  }

  /// Revokes all recorded keys.
  package func revoke(because reason: LockReason) {
    let keys = entries.withLock { entries in
      defer { entries = [] }
      return entries.compactMap(\.key)
    }
    for key in keys { key.revoke(because: reason) }
  }
}
