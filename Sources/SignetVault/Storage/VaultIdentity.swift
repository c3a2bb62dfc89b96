import SignetCrypto
import SignetSQLite

/// Who a vault is: made once, authenticated ever after.
struct VaultIdentity {
  let seal: RowSeal
  let device: DeviceID
  /// `nil` where the keystore does not count.
  let generation: Generation?

  /// Reads the identity, or makes it in a new vault.
  ///
  /// Of several processes that find a new vault, one makes it.
  ///
  /// - Throws: ``VaultFailure``: `altered`, `otherKeystore`, `rolledBack`; ``KeystoreFailure``, ``SQLiteFailure``.
  static func load(from database: Database, _ keystore: any HardwareKeystore) throws -> VaultIdentity {
    let identity =
      if let found = try read(from: database, keystore) {
        found
      } else {
        try database.transaction { try read(from: database, keystore) ?? make(in: database, keystore) }
      }
    if let generation = identity.generation {
      let number = try database.transaction { try generation.current(in: database, identity.seal) }
      try generation.reach(number)
    }
    return identity
  }

  private static func read(
    from database: Database, _ keystore: any HardwareKeystore
  ) throws -> VaultIdentity? {
    let rows = try database.query("SELECT vault, device, keystore, sealed_key, counter, mac FROM vault")
    guard let row = rows.first else { return nil }
    guard let vault = Identifier(try row.blob("vault")), let device = Identifier(try row.blob("device")),
      let kind = KeystoreKind(rawValue: try row.text("keystore"))
    else { throw VaultFailure.altered(.vault) }
    guard kind == keystore.kind else {
      throw VaultFailure.otherKeystore(found: kind, expected: keystore.kind)
    }
    let sealedKey = try row.blob("sealed_key")
    let counter = try row.optionalBlob("counter")
    let key = try keystore.unseal(sealedKey, context: context(vault))
    let seal = RowSeal(vault: vault, vaultKey: key)
    guard seal.isValid(try row.blob("mac"), canonicalBytes(device, kind, sealedKey, counter)) else {
      throw VaultFailure.altered(.vault)
    }
    return VaultIdentity(
      seal: seal, device: DeviceID(device), generation: Generation(keystore, counter: counter))
  }

  private static func make(in database: Database, _ keystore: any HardwareKeystore) throws -> VaultIdentity {
    let random = SystemRandomSource()
    let vault = Identifier(from: random)
    let device = Identifier(from: random)
    let key = SecretBytes.random(byteCount: 32)
    let sealedKey = try keystore.seal(key, context: context(vault))
    let counter = try (keystore as? any CountingKeystore)?.makeCounter()
    let seal = RowSeal(vault: vault, vaultKey: key)
    try database.execute(
      "INSERT INTO vault (one, vault, device, keystore, sealed_key, counter, mac) VALUES (1, ?, ?, ?, ?, ?, ?)",
      .blob(vault.bytes), .blob(device.bytes), .text(keystore.kind.rawValue), .blob(sealedKey),
      .optional(counter), .blob(seal.code(canonicalBytes(device, keystore.kind, sealedKey, counter))))
    let generation = Generation(keystore, counter: counter)
    if let generation {
      try generation.store(generation.keystore.counterValue(generation.counter), in: database, seal)
    }
    return VaultIdentity(seal: seal, device: DeviceID(device), generation: generation)
  }

  private static func context(_ vault: Identifier) -> [UInt8] {
    var context = CanonicalBytes("signet vault key v1")
    context.append(vault.bytes)
    return context.bytes
  }

  private static func canonicalBytes(
    _ device: Identifier, _ kind: KeystoreKind, _ sealedKey: [UInt8], _ counter: [UInt8]?
  ) -> CanonicalBytes {
    var row = CanonicalBytes("vault")
    row.append(device.bytes)
    row.append(kind.rawValue)
    row.append(sealedKey)
    if let counter { row.append(counter) }
    return row
  }
}

extension Generation {
  /// `nil` where the keystore does not count, or the vault was made when it did not.
  fileprivate init?(_ keystore: any HardwareKeystore, counter: [UInt8]?) {
    guard let counting = keystore as? any CountingKeystore, let counter else { return nil }
    self.init(keystore: counting, counter: counter)
  }
}
