#if os(Linux)
  import Glibc
  import SignetTPM
#endif
public import SignetVault

extension Vault {
  /// Opens the vault in a folder with the kind of keystore that it was created with, or creates it with the best available one.
  ///
  /// On Linux that is the named TPM, otherwise `/dev/tpmrm0` if this user may access it. Without either, and currently on
  /// other systems, it is a file next to the vault. ``keystoreKind`` returns the kind.
  ///
  /// - Parameters:
  ///   - directory: The folder. It must belong to this user, and no other user may write to it.
  ///   - tpm: A TPM (`device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321`, `swtpm:path=SOCKET`), or `none`.
  ///   - cost: The cost of key derivation from passwords in new slots.
  ///   - createIfMissing: True to create a missing folder and a new vault in it.
  /// - Returns: The vault.
  /// - Throws: ``SignetVault/VaultFailure``; a named TPM that is missing is a failure and is never replaced by a file.
  public static func open(
    inFolder directory: String, tpm: String? = nil, cost: PasswordCost = .standard,
    createIfMissing: Bool = true
  ) throws(VaultFailure) -> Vault {
    let choice = try KeystoreChoice(tpm)
    let software = SoftwareKeystore(directory: directory)
    let first = choice.keystoreForNew ?? software
    do throws(VaultFailure) {
      return try Vault(directory: directory, keystore: first, cost: cost, createIfMissing: createIfMissing)
    } catch {
      guard case .otherKeystore(let found, _) = error,
        let other = choice.keystore(of: found) ?? (found == .software ? software : nil)
      else { throw error }
      return try Vault(directory: directory, keystore: other, cost: cost, createIfMissing: createIfMissing)
    }
  }
}

/// The hardware that a vault may use.
private struct KeystoreChoice {
  /// The keystore for a new vault; `nil` for a file.
  let keystoreForNew: (any HardwareKeystore)?
  private let hardware: (any HardwareKeystore)?

  #if os(Linux)
    init(_ tpm: String?) throws(VaultFailure) {
      switch tpm {
      case "none": (keystoreForNew, hardware) = (nil, nil)
      case let tpm?:
        let keystore: TPMKeystore
        do throws(KeystoreFailure) { keystore = TPMKeystore(try TPMAddress(tpm)) } catch {
          throw .keystore(error)
        }
        (keystoreForNew, hardware) = (keystore, keystore)
      case nil:
        let keystore = TPMKeystore(.standard)
        // An existing vault that was created with the TPM needs it, even if the user has lost access to it since.
        hardware = keystore
        keystoreForNew = access("/dev/tpmrm0", R_OK | W_OK) == 0 ? keystore : nil
      }
    }
  #else
    init(_ tpm: String?) throws(VaultFailure) { (keystoreForNew, hardware) = (nil, nil) }
  #endif

  /// Returns the hardware if it is of a kind.
  func keystore(of kind: KeystoreKind) -> (any HardwareKeystore)? { hardware?.kind == kind ? hardware : nil }
}
