public import SignetCrypto
import Synchronization

/// The keys under which handshakes travel with devices: each is used for minutes and then forgotten.
///
/// They come from no other key and are in no database, so that a handshake that somebody recorded opens for nobody once its time is
/// over: not for who has the master key, the database and its backups by then.
public final class HandshakeKeys: Sendable {
  /// How long a key seals new handshakes, in seconds.
  package static let period: Int64 = 120
  /// How far the clock may be set back without handshakes becoming void, in seconds.
  package static let clockStep: Int64 = 60
  /// The bytes of a key's id.
  package static let idByteCount = 8

  /// A key, and when it was made, in seconds since 1970.
  package struct Key: Sendable {
    package let id: [UInt8]
    package let made: Int64
    package let secret: SharedSecretBox

    package init(id: [UInt8], made: Int64, secret: SharedSecretBox) {
      (self.id, self.made, self.secret) = (id, made, secret)
    }
  }

  private let lifetime: Int64
  private let store: (any HandshakeKeyStore)?
  /// Keeps other processes from serving at the same time, for as long as these keys are there; `nil` where they may.
  private let exclusion: (any Sendable)?
  private let random: any RandomSource
  private let known = Mutex<[Key]>([])

  /// Keys in memory: of one process.
  ///
  /// - Parameters:
  ///   - lifetime: How long a handshake lives, in seconds.
  ///   - random: Where the ids come from.
  public convenience init(lifetime: Int64, random: any RandomSource = SystemRandomSource()) {
    self.init(lifetime: lifetime, store: nil, exclusion: nil, random: random)
  }

  /// Keys in memory, or in a store that the processes of a machine share.
  ///
  /// - Parameters:
  ///   - lifetime: How long a handshake lives, in seconds.
  ///   - store: Where processes share the keys; `nil` for those of one process.
  ///   - exclusion: Is kept for as long as these keys: it keeps other processes from serving, where they do not share them.
  ///   - random: Where the ids come from.
  package init(
    lifetime: Int64, store: (any HandshakeKeyStore)? = nil, exclusion: (any Sendable)? = nil,
    random: any RandomSource = SystemRandomSource()
  ) {
    (self.lifetime, self.store, self.exclusion, self.random) = (lifetime, store, exclusion, random)
  }

  /// The key of new handshakes.
  ///
  /// - Throws: What the store throws, where processes share it, and it can't be written.
  package func current(at now: Int64) throws -> Key {
    try known.withLock { known in
      drop(&known, at: now)
      if let key = known.last(where: { seals($0, at: now) }) { return key }
      if let shared = try store?.keys().filter({ seals($0, at: now) }).max(by: { $0.made < $1.made }) {
        known.append(shared)
        return shared
      }
      let key = Key(
        id: random.bytes(Self.idByteCount), made: now, secret: SharedSecretBox(.random(byteCount: 32)))
      try store?.add(key)
      known.append(key)
      return key
    }
  }

  /// The key of a handshake that a device brings back; `nil` where it is forgotten, or never was.
  ///
  /// - Throws: What the store throws, where processes share it, and it can't be read.
  package func key(_ id: [UInt8], at now: Int64) throws -> Key? {
    try known.withLock { known in
      drop(&known, at: now)
      if let key = known.first(where: { $0.id == id }) { return key }
      guard let shared = try store?.key(id), isAlive(shared, at: now) else { return nil }
      known.append(shared)
      return shared
    }
  }

  /// Forgets the keys whose last handshake has ended.
  ///
  /// - Throws: What the store throws, where processes share them, and they can't be overwritten.
  package func forgetOld(at now: Int64) throws {
    known.withLock { drop(&$0, at: now) }
    guard let store else { return }
    try store.forget(store.keys().filter { !isAlive($0, at: now) })
  }

  /// Forgets all keys of this process, and the shared ones where no other process uses them.
  ///
  /// - Throws: What the store throws.
  package func end() throws {
    known.withLock { $0 = [] }
    try store?.end()
  }

  private func drop(_ known: inout [Key], at now: Int64) {
    known.removeAll { !isAlive($0, at: now) }
  }

  private func seals(_ key: Key, at now: Int64) -> Bool {
    (key.made - Self.clockStep..<key.made + Self.period).contains(now)
  }

  private func isAlive(_ key: Key, at now: Int64) -> Bool {
    (key.made - Self.clockStep...key.made + Self.period + lifetime).contains(now)
  }
}
