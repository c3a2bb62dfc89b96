package import SignetCrypto
package import SignetSQLite
import SignetSystem

/// Containers and their secrets in one folder, bound to this device.
///
/// The folder has mode 0700 and holds `vault.sqlite`, mode 0600. Each change is on the disk before its call returns. Any
/// number of processes may use one folder at once. The vault has its own executor, because its work blocks.
public actor Vault {
  let executor = BlockingExecutor(label: "signet.vault")
  let tables: VaultTables
  let keystore: any HardwareKeystore
  let locationLockPath: String
  let attemptLockPath: String
  let settings: Settings
  /// The derivation of keys from passwords and invites.
  package nonisolated var derivation: PasswordDerivation { settings.derivation }
  let directory: String
  var calibratedCost: Argon2id?

  var database: Database { tables.database }
  var seal: RowSeal { tables.seal }
  /// The current time, for waits and password ages.
  var moment: TrustedTime { clock.now }

  /// The clock of this vault and of its containers' sessions.
  package nonisolated let clock: any TrustedClock
  /// The identifier of this installation.
  public nonisolated let deviceID: DeviceID
  /// The kind of keystore that binds the vault to this device; the server learns it.
  public nonisolated let keystoreKind: KeystoreKind

  /// The executor of the vault's blocking work.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the vault in a folder.
  ///
  /// This call reads and writes files before it returns. It takes a few milliseconds, more for a new vault.
  ///
  /// - Parameters:
  ///   - directory: The folder. It must belong to this user, and no other user may have write access.
  ///   - keystore: The keystore that the vault was made with; it binds the vault to the device.
  ///   - cost: The cost of password key derivation for new slots.
  ///   - clock: The source of time; `nil` selects the system's clock.
  ///   - createIfMissing: Creates a missing folder, and a new vault in it, if true.
  /// - Throws: ``VaultFailure``.
  public init(
    directory: String, keystore: any HardwareKeystore, cost: PasswordCost = .standard,
    clock: (any TrustedClock)? = nil, createIfMissing: Bool = true
  ) throws(VaultFailure) {
    var settings = Settings(cost: cost, createIfMissing: createIfMissing)
    settings.clock = clock
    try self.init(directory: directory, keystore: keystore, settings: settings)
  }

  /// Opens the vault with settings that tests can change.
  package init(directory: String, keystore: any HardwareKeystore, settings: Settings) throws(VaultFailure) {
    self.directory = directory
    let folder = VaultFolder(path: directory)
    try folder.prepare(create: settings.createIfMissing)
    do {
      let database = try Database(
        path: folder.databasePath, mode: settings.createIfMissing ? .readWriteCreate : .readWrite)
      database.willExecute = settings.willExecute
      try database.migrate(VaultSchema.migrations)
      let identity = try VaultIdentity.load(from: database, keystore, floor: settings.insecureCostFloor)
      tables = identity.tables
      deviceID = identity.device
      clock = try settings.clock ?? SystemTrustedClock()
      self.keystore = keystore
      (locationLockPath, attemptLockPath) = (folder.locationLockPath, folder.attemptLockPath)
      try tables.releaseLocations(of: keystore, locationLockPath)
    } catch { throw VaultFailure(error) }
    keystoreKind = keystore.kind
    self.settings = settings
  }

  package struct Settings: Sendable {
    package var cost: PasswordCost
    package var createIfMissing: Bool
    /// The key derivation; tests replace it to count or shorten derivations.
    package var derivation = PasswordDerivation.argon2id
    /// The longest wait for the attempts of other processes, of which there may be many on a slow TPM; tests shorten it.
    package var lockTimeout = Duration.seconds(60)
    /// A hook for tests, called after an attempt is counted and before it is made.
    package var willTry: @Sendable () -> Void = {}
    /// The lowest cost that a slot may have; only tests lower it.
    package var insecureCostFloor: Argon2id = PasswordCost.floor
    /// Returns the cost that makes one derivation take this long on this machine; tests replace it.
    package var calibrate: @Sendable (_ milliseconds: Int) throws -> Argon2id = {
      try Argon2id.calibrated(milliseconds: $0)
    }
    /// The clock, which tests replace; `nil` selects the system's.
    package var clock: (any TrustedClock)?
    /// Called with each statement before it runs.
    package var willExecute: Database.StatementObserver?

    package init(cost: PasswordCost = .standard, createIfMissing: Bool = true) {
      self.cost = cost
      self.createIfMissing = createIfMissing
    }
  }
}
