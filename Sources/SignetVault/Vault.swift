import SignetConcurrency
package import SignetCrypto
package import SignetSQLite

/// Containers with their secrets in one folder, tied to this device.
///
/// The folder has mode 0700 and holds `vault.sqlite`, mode 0600. What is stored is written to the disk before a call returns.
/// Any number of processes may use one folder at once. The work runs on an executor of the vault's own, since it blocks.
public actor Vault {
  let executor = BlockingExecutor(label: "signet.vault")
  let tables: VaultTables
  let keystore: any HardwareKeystore
  let placeLockPath: String
  let attemptLockPath: String
  let settings: Settings
  /// How passwords and invites become keys.
  package nonisolated var derivation: PasswordDerivation { settings.derivation }
  let directory: String
  var calibratedCost: Argon2id?

  var database: Database { tables.database }
  var seal: RowSeal { tables.seal }
  /// The time by which waits and ages go.
  var moment: TrustedTime { clock.now }

  /// What tells the time, here and to the sessions of its containers.
  package nonisolated let clock: any TrustedClock
  /// The name of this installation.
  public nonisolated let deviceID: DeviceID
  /// What ties the vault to this device; the server is told.
  public nonisolated let keystoreKind: KeystoreKind

  /// Where the vault's work runs.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the vault in a folder.
  ///
  /// This reads and writes files before it returns: a few milliseconds, more for a new vault.
  ///
  /// - Parameters:
  ///   - directory: The folder. It must belong to this user, and nobody else may write to it.
  ///   - keystore: What ties the vault to the device: the one that it was made with.
  ///   - cost: What deriving a key from a password costs in slots made from now on.
  ///   - clock: What tells the time; the system's if it is `nil`.
  ///   - createIfMissing: Whether a missing folder, and a new vault in it, is made.
  /// - Throws: ``VaultFailure``.
  public init(
    directory: String, keystore: any HardwareKeystore, cost: PasswordCost = .standard,
    clock: (any TrustedClock)? = nil, createIfMissing: Bool = true
  ) throws(VaultFailure) {
    var settings = Settings(cost: cost, createIfMissing: createIfMissing)
    settings.clock = clock
    try self.init(directory: directory, keystore: keystore, settings: settings)
  }

  /// Opens the vault with what tests need to look into or change.
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
      (placeLockPath, attemptLockPath) = (folder.placeLockPath, folder.attemptLockPath)
      try tables.giveBackPlaces(of: keystore, placeLockPath)
    } catch { throw VaultFailure(error) }
    keystoreKind = keystore.kind
    self.settings = settings
  }

  /// What a vault is opened with.
  package struct Settings: Sendable {
    package var cost: PasswordCost
    package var createIfMissing: Bool
    /// Replaced by tests that count or shorten derivations.
    package var derivation = PasswordDerivation.argon2id
    /// Shortened by tests: how long an attempt waits for those of others, of which there may be many on a slow TPM.
    package var longestTurn = Duration.seconds(60)
    /// Called by tests: an attempt is counted, and is about to be tried.
    package var willTry: @Sendable () -> Void = {}
    /// Lowered by tests only: the least cost that a slot may have.
    package var insecureCostFloor: Argon2id = PasswordCost.floor
    /// Replaced by tests: what a derivation of so many milliseconds costs on this machine.
    package var calibrate: @Sendable (_ milliseconds: Int) throws -> Argon2id = {
      try Argon2id.calibrated(milliseconds: $0)
    }
    /// Replaced by tests: the system's where it is `nil`.
    package var clock: (any TrustedClock)?
    /// Called with each statement before it runs.
    package var willExecute: Database.StatementObserver?

    package init(cost: PasswordCost = .standard, createIfMissing: Bool = true) {
      self.cost = cost
      self.createIfMissing = createIfMissing
    }
  }
}
