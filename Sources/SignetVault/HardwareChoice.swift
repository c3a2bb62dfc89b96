/// The hardware keystore that a vault may use, and whether a new vault uses it.
public struct HardwareChoice: Sendable {
  /// No hardware: the master key of the vault is in a file of its folder, which can be copied.
  public static var none: HardwareChoice { HardwareChoice() }

  private let keystore: (any HardwareKeystore)?
  private let isForNewVaults: Bool

  private init() { (keystore, isForNewVaults) = (nil, false) }

  /// A choice of one keystore.
  ///
  /// - Parameters:
  ///   - keystore: The keystore.
  ///   - isForNewVaults: Whether a new vault is made with it. An existing vault opens only with the kind that it was made with.
  public init(_ keystore: any HardwareKeystore, isForNewVaults: Bool = true) {
    self.keystore = keystore
    self.isForNewVaults = isForNewVaults
  }

  var keystoreForNewVaults: (any HardwareKeystore)? { isForNewVaults ? keystore : nil }

  func keystore(of kind: KeystoreKind) -> (any HardwareKeystore)? {
    keystore?.kind == kind ? keystore : nil
  }
}

extension Vault {
  /// Opens the vault in a folder with the kind of keystore that it was made with, or makes a new one.
  ///
  /// ``keystoreKind`` says which kind it is.
  ///
  /// - Parameters:
  ///   - directory: The folder. It must belong to this user, and no other user may write to it.
  ///   - hardware: The hardware keystore that may be used; with ``HardwareChoice/none`` a new vault keeps its master key in a file of the
  ///     folder.
  ///   - cost: The cost of deriving a key from a password, for slots that are made from now on.
  ///   - createIfMissing: Whether a missing folder, and a new vault in it, is made.
  /// - Returns: The vault.
  /// - Throws: ``VaultFailure``. Hardware that a vault was made with, and that cannot be reached, is never replaced by a file.
  public static func open(
    inFolder directory: String, hardware: HardwareChoice, cost: PasswordCost = .standard,
    createIfMissing: Bool = true
  ) throws(VaultFailure) -> Vault {
    let software = SoftwareKeystore(directory: directory)
    let first = hardware.keystoreForNewVaults ?? software
    do throws(VaultFailure) {
      return try Vault(directory: directory, keystore: first, cost: cost, createIfMissing: createIfMissing)
    } catch {
      guard case .otherKeystore(let found, _) = error,
        let other = hardware.keystore(of: found) ?? (found == .software ? software : nil)
      else { throw error }
      return try Vault(directory: directory, keystore: other, cost: cost, createIfMissing: createIfMissing)
    }
  }
}
