import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTestKit
import SignetTesting
import SignetVault
import Synchronization
import Testing

/// A folder with a vault, cheap passwords, and counts of derivations and of tried passwords.
final class VaultFixture: Sendable {
  static let weak = Argon2id.insecureForTests
  static let password = "correct horse"

  let folder: TemporaryFolder
  let clock = VirtualTrustedClock()
  private let derivations = Mutex(0)
  private let tries = Mutex(0)

  init() throws { folder = try TemporaryFolder(mode: 0o777) }

  var directory: String { folder.file("vault") }
  var databasePath: String { folder.file("vault/vault.sqlite") }

  /// The number of derivations from a password by the vaults of ``open(_:)``.
  var derivationCount: Int { derivations.withLock(\.self) }

  /// The number of passwords compared after the count of the attempt, by the vaults of ``open(_:)``.
  var tryCount: Int { tries.withLock(\.self) }

  func open(
    keystore: (any HardwareKeystore)? = nil, cost: PasswordCost = .fixed(weak),
    willExecute: Database.StatementObserver? = nil, onDerivation: @escaping @Sendable () -> Void = {},
    onTry: @escaping @Sendable () -> Void = {}
  ) throws -> Vault {
    try Self.open(
      directory, keystore: keystore, cost: cost, clock: clock, willExecute: willExecute,
      onDerivation: {
        self.derivations.withLock { $0 += 1 }
        onDerivation()
      },
      onTry: {
        self.tries.withLock { $0 += 1 }
        onTry()
      })
  }

  static func open(
    _ directory: String, keystore: (any HardwareKeystore)? = nil, cost: PasswordCost = .fixed(weak),
    clock: VirtualTrustedClock = VirtualTrustedClock(), willExecute: Database.StatementObserver? = nil,
    lockTimeout: Duration = .seconds(60), onDerivation: @escaping @Sendable () -> Void = {},
    onTry: @escaping @Sendable () -> Void = {}
  ) throws -> Vault {
    try Vault.forTests(directory, keystore: keystore, clock: clock) { settings in
      settings.cost = cost
      settings.willExecute = willExecute
      settings.willTry = onTry
      settings.lockTimeout = lockTimeout
      settings.derivation = PasswordDerivation { (password, salt, cost) throws(CryptoFailure) in
        onDerivation()
        return try PasswordDerivation.argon2id.derive(password, salt, cost)
      }
    }
  }

  /// Opens the file without the vault, for external changes; no write waits for the disk.
  func rawDatabase() throws -> Database {
    let database = try Database(path: databasePath, mode: .readWrite)
    try database.execute(script: "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    return database
  }
}

/// Records events in order, from any thread.
final class Recorder<Entry: Sendable>: Sendable {
  private let storage = Mutex<[Entry]>([])
  var entries: [Entry] { storage.withLock(\.self) }
  func record(_ entry: Entry) { storage.withLock { $0.append(entry) } }
}

extension SecretBytes {
  init(_ text: String) { self.init(copying: Array(text.utf8)) }
}

extension SharedSecretBox {
  convenience init(_ text: String) { self.init(SecretBytes(text)) }
}

extension ContainerAttributes {
  static func sample(user: String = "alice", server: String = "login.example.org/bank", name: String = "Bank")
    -> Self
  {
    ContainerAttributes(
      userID: user, server: server, name: name, serverID: "bank-1",
      connection: ServerTrust(
        certificateAuthoritiesPEM: "-----BEGIN CERTIFICATE-----", pins: [[UInt8](repeating: 7, count: 32)]),
      protocolParameters: [1, 2, 3], extra: [4, 5, 6])
  }
}

extension ContainerDraft {
  /// A device domain `session` and a password domain `keys`, with a secret and a counter each.
  static func sample(
    _ attributes: ContainerAttributes = .sample(), created: Int64 = 1_000, lock: LockPolicy = .lock(limit: 5)
  ) -> Self {
    let counter = SharedSecretBox(SecretBytes(copying: [0, 0, 0, 0, 0, 0, 0, 41]))
    return ContainerDraft(
      attributes: attributes, created: created,
      domains: [
        DomainDraft(
          name: "session", protection: .device,
          records: [
            RecordDraft(name: "key", secret: SharedSecretBox("session key")),
            RecordDraft(name: "counter", secret: counter),
          ]),
        DomainDraft(
          name: "keys", protection: .password(SharedSecretBox(VaultFixture.password), lock),
          records: [
            RecordDraft(name: "signing", secret: SharedSecretBox("signing key")),
            RecordDraft(name: "counter", secret: counter),
          ]),
      ])
  }
}

extension UnlockedDomain {
  /// Returns a record as text, for comparisons.
  borrowing func text(_ name: String) throws -> String {
    try withRecord(name) { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension Vault {
  /// Opens `keys` with a password and returns its secret.
  func signingKey(of id: LocalContainerID, _ password: String = VaultFixture.password) throws -> String {
    try open("keys", of: id, with: .password(SecretBytes(password))).text("signing")
  }

  /// Opens `session` and returns its secret.
  func sessionKey(of id: LocalContainerID) throws -> String {
    try open("session", of: id, with: .device).text("key")
  }
}
