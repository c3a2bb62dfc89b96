/// The status of a keystore, obtained without opening anything.
public struct KeystoreStatus: Sendable, Hashable {
  /// The kind of protection.
  public var kind: KeystoreKind
  /// The manufacturer that the hardware reports.
  public var manufacturer: String?
  /// The firmware version that the hardware reports.
  public var firmware: String?
  /// True if the reported data or the manufacturer's name shows a software simulator.
  public var isSimulator = false
  /// The state of the dictionary-attack lockout.
  public var lockout: Lockout?
  /// True if resetting the lockout needs a password; `nil` if there is no lockout.
  ///
  /// If false, any user of the hardware can reset the lockout without limit. Then a guess limit adds no protection beyond
  /// the cost of each guess.
  public var isLockoutPasswordSet: Bool?
  /// True if the hardware has an owner password, without which nothing can be stored in it; `nil` if it has no owner.
  public var isOwnerPasswordSet: Bool?
  /// The number of guess limits and counters that this program keeps in the hardware, for all users and vaults of the machine.
  public var reservedLocationCount = 0

  /// A status with the kind only.
  public init(kind: KeystoreKind) { self.kind = kind }

  /// The dictionary-attack lockout, shared by all users of the hardware: it counts failures, and each expires after some time.
  public struct Lockout: Sendable, Hashable {
    /// The current number of counted failures.
    public var failedCount: Int
    /// The number of failures that locks the hardware.
    public var limit: Int
    /// The number of seconds after which one failure is removed from the count.
    public var secondsForEach: Int

    /// Creates a lockout with these numbers.
    public init(failedCount: Int, limit: Int, secondsForEach: Int) {
      self.failedCount = failedCount
      self.limit = limit
      self.secondsForEach = secondsForEach
    }

    /// True if the lockout is active now.
    public var isLocked: Bool { failedCount >= limit }
    /// The upper bound of the remaining lockout in seconds; 0 if it is not active.
    public var secondsLeft: Int { isLocked ? (failedCount - limit + 1) * secondsForEach : 0 }
  }
}

/// The kinds of keystore; the vault stores the raw value and reports it to the server.
@nonexhaustive public enum KeystoreKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// A key file: a program that can read the user's files can copy it.
  case software
  /// A TPM 2.0: only this device opens the secrets that it sealed.
  case tpm2

  /// The kind in words, for display to a user.
  public var description: String {
    switch self {
    case .software: "software (keys can be copied with the user's files)"
    case .tpm2: "TPM 2.0 (keys are tied to this device)"
    }
  }

  /// The byte for the kind in a slot header.
  var code: UInt8 {
    switch self {
    case .software: 1
    case .tpm2: 2
    }
  }
}

extension Vault {
  /// The keystore's status; nothing is opened.
  ///
  /// - Returns: The kind; for hardware also its manufacturer, its lockout and the number of locations in use.
  /// - Throws: ``VaultFailure/keystore(_:)`` if the keystore cannot be queried.
  public func keystoreStatus() throws(VaultFailure) -> KeystoreStatus {
    do throws(KeystoreFailure) { return try keystore.status() } catch { throw .keystore(error) }
  }
}
