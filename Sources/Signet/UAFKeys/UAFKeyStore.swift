package import SignetCrypto
package import SignetIdentifiers
import SignetJSON
package import SignetSystem
package import SignetVault

/// The storage of UAF keys in the vault: one domain for each key, and one domain for their data that the device opens alone.
///
/// A user name is stored in wrapped handles only.
package struct UAFKeyStore: Sendable {
  package let vault: Vault
  package let clock: any WallClock

  package init(vault: Vault, clock: any WallClock) {
    self.vault = vault
    self.clock = clock
  }

  package static let secretByteCount = 32
  package static let asmToken = "asm-token"
  package static let wrappingKey = "wrapping-key"

  /// Opens the domain of the key data; `nil` if nothing was ever registered.
  package func open() async throws(VaultFailure) -> UnlockedDomain? {
    guard let id = try await vault.uafContainer() else { return nil }
    return try await vault.open(Vault.uafDomain, of: id, with: .device)
  }

  /// Opens the domain of the key data and creates it if it is missing.
  package func openOrMake() async throws(VaultFailure) -> UnlockedDomain {
    let records = [Self.asmToken, Self.wrappingKey].map {
      RecordDraft(name: $0, secret: SharedSecretBox(.random(byteCount: Self.secretByteCount)))
    }
    let id = try await vault.makeUAFContainer(records: records, created: clock.now * 1000)
    return try await vault.open(Vault.uafDomain, of: id, with: .device)
  }

  /// Reads the key data; `nil` if nothing was ever registered.
  package func contents() async throws(VaultFailure) -> UAFContents? {
    guard let unlocked = try await open() else { return nil }
    return try UAFContents(unlocked.openedRecords())
  }

  /// Reads the key data and creates it if it is missing.
  package func madeContents() async throws(VaultFailure) -> UAFContents {
    try UAFContents(await openOrMake().openedRecords())
  }

  /// Deletes keys, all or none; missing keys are ignored.
  package func delete(_ keys: [KeyID]) async throws(VaultFailure) {
    guard !keys.isEmpty, let unlocked = try await open() else { return }
    try await vault.changeDomains(beside: unlocked) { (records, removed) throws(VaultFailure) in
      for key in keys where records.names.contains(StoredUAFKey.name(key)) {
        records.remove(StoredUAFKey.name(key))
        records.remove(StoredUAFKey.counterName(key))
        removed.insert(StoredUAFKey.domain(key))
      }
    }
  }
}

/// The data of the keys, readable without user verification.
package struct UAFContents {
  /// A random secret of this installation, for access tokens.
  package let asmToken: [UInt8]
  /// The key that wraps the key handles.
  package let wrappingKey: SharedSecretBox
  /// The keys, oldest first.
  package let keys: [StoredUAFKey]

  package init(_ records: OpenRecords) throws(VaultFailure) {
    guard let token = try records.secret(UAFKeyStore.asmToken),
      let wrapping = try records.secret(UAFKeyStore.wrappingKey)
    else { throw .damaged }
    asmToken = token.insecureCopy()
    wrappingKey = SharedSecretBox(wrapping)
    var keys: [StoredUAFKey] = []
    for name in records.names {
      guard let keyID = StoredUAFKey.keyID(of: name), let record = try records.secret(name) else { continue }
      guard let key = StoredUAFKey(keyID, record.insecureCopy()) else { throw .damaged }
      keys.append(key)
    }
    self.keys = keys.sorted { ($0.created, $0.keyID.text) < ($1.created, $1.keyID.text) }
  }

  /// The content of a key's handle; `nil` if the handle cannot be unwrapped.
  package func handle(of key: StoredUAFKey) -> UAFKeyHandle? {
    UAFKeyHandle(unwrapping: key.handle, by: wrappingKey, of: key.aaid)
  }
}

/// The stored data of one key.
package struct StoredUAFKey: Sendable {
  package let keyID: KeyID
  package let aaid: AAID
  package let appID: String
  /// The server that had the key made; `nil` if it has no name.
  package let server: String?
  /// The creation time, in seconds since 1970.
  package let created: Int64
  /// The wrapped key handle.
  package let handle: [UInt8]

  package init(_ keyID: KeyID, aaid: AAID, appID: String, server: String?, created: Int64, handle: [UInt8]) {
    self.keyID = keyID
    self.aaid = aaid
    self.appID = appID
    self.server = server
    self.created = created
    self.handle = handle
  }

  package init?(_ keyID: KeyID, _ record: [UInt8]) {
    do {
      let object = try JSONObject(parsing: record)
      guard let aaid = AAID(try object.string("aaid")) else { return nil }
      self.init(
        keyID, aaid: aaid, appID: try object.string("app"),
        server: try object.optionalString("server"), created: try object.integer("created"),
        handle: try Base64URL.decode(try object.string("handle")))
    } catch { return nil }
  }

  package var record: SecretBytes {
    var object: JSONObject = [
      "aaid": .string(aaid.text), "app": .string(appID), "created": .integer(created),
      "handle": .string(Base64URL.encode(handle)),
    ]
    if let server { object["server"] = .string(server) }
    return SecretBytes(copying: object.bytes)
  }

  private static let prefix = "key-"

  package static func name(_ keyID: KeyID) -> String { prefix + keyID.text }
  package static func counterName(_ keyID: KeyID) -> String { "counter-\(keyID.text)" }
  package static func registrationsName(_ aaid: AAID) -> String { "registrations-\(aaid)" }
  /// The domain that contains the private key.
  package static func domain(_ keyID: KeyID) -> String { keyID.text }

  package static func keyID(of name: String) -> KeyID? {
    name.hasPrefix(prefix) ? KeyID(text: String(name.dropFirst(prefix.count))) : nil
  }
}

extension OpenRecords {
  /// Increments a counter and returns its new value; it starts at 1 and is stored as four bytes, big-endian.
  ///
  /// - Throws: ``VaultFailure``: `counterExhausted` at the maximum, `notACounter` for a record of another length.
  package mutating func nextNumber(_ name: String) throws(VaultFailure) -> UInt32 {
    var number: UInt32 = 0
    if let record = try secret(name) {
      guard record.byteCount == 4 else { throw .notACounter(name: name) }
      number = record.withUInt8Span { bytes in (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[$1]) } }
    }
    guard number < .max else { throw .counterExhausted(name: name) }
    number += 1
    let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    try set(name, to: SecretBytes(copying: bytes))
    return number
  }
}
