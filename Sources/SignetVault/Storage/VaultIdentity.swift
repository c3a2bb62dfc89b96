import SignetCrypto
import SignetSQLite

/// Who a vault is: made once, authenticated ever after.
struct VaultIdentity {
  let seal: RowSeal
  let device: DeviceID

  /// Reads the identity, or makes it in a new vault.
  ///
  /// Of several processes that find a new vault, one makes it.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``, ``VaultFailure/otherKeystore(found:expected:)``, ``KeystoreFailure``, ``SQLiteFailure``.
  static func load(from database: Database, _ keystore: any HardwareKeystore) throws -> VaultIdentity {
    if let identity = try read(from: database, keystore) { return identity }
    return try database.transaction {
      if let identity = try read(from: database, keystore) { return identity }
      return try make(in: database, keystore)
    }
  }

  private static func read(
    from database: Database, _ keystore: any HardwareKeystore
  ) throws -> VaultIdentity? {
    let rows = try database.query("SELECT vault, device, keystore, sealed_key, mac FROM vault")
    guard let row = rows.first else { return nil }
    guard let vault = Identifier(try row.blob("vault")), let device = Identifier(try row.blob("device")),
      let kind = KeystoreKind(rawValue: try row.text("keystore"))
    else { throw VaultFailure.altered(.vault) }
    guard kind == keystore.kind else {
      throw VaultFailure.otherKeystore(found: kind, expected: keystore.kind)
    }
    let sealedKey = try row.blob("sealed_key")
    let key = try keystore.unseal(sealedKey, context: context(vault))
    let seal = RowSeal(vault: vault, vaultKey: key)
    guard seal.isValid(try row.blob("mac"), canonicalBytes(device, kind, sealedKey)) else {
      throw VaultFailure.altered(.vault)
    }
    return VaultIdentity(seal: seal, device: DeviceID(device))
  }

  private static func make(in database: Database, _ keystore: any HardwareKeystore) throws -> VaultIdentity {
    let random = SystemRandomSource()
    let vault = Identifier(from: random)
    let device = Identifier(from: random)
    let key = SecretBytes.random(byteCount: 32)
    let sealedKey = try keystore.seal(key, context: context(vault))
    let seal = RowSeal(vault: vault, vaultKey: key)
    try database.execute(
      "INSERT INTO vault (one, vault, device, keystore, sealed_key, mac) VALUES (1, ?, ?, ?, ?, ?)",
      .blob(vault.bytes), .blob(device.bytes), .text(keystore.kind.rawValue), .blob(sealedKey),
      .blob(seal.code(canonicalBytes(device, keystore.kind, sealedKey))))
    return VaultIdentity(seal: seal, device: DeviceID(device))
  }

  private static func context(_ vault: Identifier) -> [UInt8] {
    var context = CanonicalBytes("signet vault key v1")
    context.append(vault.bytes)
    return context.bytes
  }

  private static func canonicalBytes(
    _ device: Identifier, _ kind: KeystoreKind, _ sealedKey: [UInt8]
  ) -> CanonicalBytes {
    var row = CanonicalBytes("vault")
    row.append(device.bytes)
    row.append(kind.rawValue)
    row.append(sealedKey)
    return row
  }
}
