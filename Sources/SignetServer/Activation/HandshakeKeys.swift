package import SignetCrypto
import Synchronization

/// The keys that encrypt handshakes; each is used for minutes and then deleted.
///
/// They are derived from no other key and stored in no database. An attacker who recorded a handshake cannot decrypt it
/// after its key was deleted, even with the master key, the database and its backups.
package final class HandshakeKeys: Sendable {
  /// The time for which a key encrypts new handshakes, in seconds.
  package static let period: Int64 = 120
  /// The largest step back of the clock that does not make handshakes void, in seconds.
  package static let clockStep: Int64 = 60
  /// The length of a key's id, in bytes.
  package static let idByteCount = 8

  /// A key with the time of its creation, in seconds since 1970.
  package struct Key: Sendable {
    package let id: [UInt8]
    package let made: Int64
    package let secret: SharedSecretBox

    package init(id: [UInt8], made: Int64, secret: SharedSecretBox) {
      self.id = id
      self.made = made
      self.secret = secret
    }
  }

  private let lifetime: Int64
  private let store: (any HandshakeKeyStore)?
  /// Prevents other processes from serving while these keys exist; `nil` if others may serve.
  private let exclusion: (any Sendable)?
  private let random: any RandomSource
  private let keys = Mutex<[Key]>([])

  /// Creates keys in memory, for one process.
  ///
  /// - Parameters:
  ///   - lifetime: The lifetime of a handshake, in seconds.
  ///   - random: The source of the ids.
  package convenience init(lifetime: Int64, random: any RandomSource = SystemRandomSource()) {
    self.init(lifetime: lifetime, store: nil, exclusion: nil, random: random)
  }

  /// Creates keys in memory, or in a store that the processes of a machine share.
  ///
  /// - Parameters:
  ///   - lifetime: The lifetime of a handshake, in seconds.
  ///   - store: The shared store; `nil` for the keys of one process.
  ///   - exclusion: Retained as long as these keys; it prevents other processes from serving if they do not share the keys.
  ///   - random: The source of the ids.
  package init(
    lifetime: Int64, store: (any HandshakeKeyStore)? = nil, exclusion: (any Sendable)? = nil,
    random: any RandomSource = SystemRandomSource()
  ) {
    self.lifetime = lifetime
    self.store = store
    self.exclusion = exclusion
    self.random = random
  }

  /// Returns the key for new handshakes.
  ///
  /// - Throws: The store's failure, if there is one and it cannot be read or written.
  package func current(at now: Int64) throws -> Key {
    try keys.withLock { keys in
      drop(&keys, at: now)
      if let key = keys.last(where: { seals($0, at: now) }) { return key }
      if let shared = try store?.keys().filter({ seals($0, at: now) }).max(by: { $0.made < $1.made }) {
        keys.append(shared)
        return shared
      }
      let key = Key(
        id: random.bytes(Self.idByteCount), made: now, secret: SharedSecretBox(.random(byteCount: 32)))
      try store?.add(key)
      keys.append(key)
      return key
    }
  }

  /// Returns the key of a handshake that a device sends back; `nil` if the key was deleted or never existed.
  ///
  /// - Throws: The store's failure, if there is one and it cannot be read.
  package func key(_ id: [UInt8], at now: Int64) throws -> Key? {
    try keys.withLock { keys in
      drop(&keys, at: now)
      if let key = keys.first(where: { $0.id == id }) { return key }
      guard let shared = try store?.key(id), isAlive(shared, at: now) else { return nil }
      keys.append(shared)
      return shared
    }
  }

  /// Deletes the keys whose last handshake has expired.
  ///
  /// - Throws: The store's failure, if there is one and its keys cannot be overwritten.
  package func forgetOld(at now: Int64) throws {
    keys.withLock { drop(&$0, at: now) }
    guard let store else { return }
    try store.forget(store.keys().filter { !isAlive($0, at: now) })
  }

  /// Deletes all keys of this process, and the shared ones if no other process uses them.
  ///
  /// - Throws: The store's failure.
  package func end() throws {
    keys.withLock { $0 = [] }
    try store?.end()
  }

  private func drop(_ keys: inout [Key], at now: Int64) {
    keys.removeAll { !isAlive($0, at: now) }
  }

  private func seals(_ key: Key, at now: Int64) -> Bool {
    (key.made - Self.clockStep..<key.made + Self.period).contains(now)
  }

  private func isAlive(_ key: Key, at now: Int64) -> Bool {
    (key.made - Self.clockStep...key.made + Self.period + lifetime).contains(now)
  }
}
