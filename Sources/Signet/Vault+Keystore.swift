#if os(Linux)
  import Glibc
  import SignetTPM
#endif
public import SignetVault

extension Vault {
  /// Opens the vault in a folder with the kind of keystore that it was made with; a new one is made with the best there is.
  ///
  /// On Linux that is the TPM that is named, or else `/dev/tpmrm0` where this user may use it; without either, and on other
  /// systems for now, it is a file beside the vault. ``keystoreKind`` says which.
  ///
  /// - Parameters:
  ///   - directory: The folder. It must belong to this user, and nobody else may write to it.
  ///   - tpm: A TPM (`device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321`, `swtpm:path=SOCKET`), or `none`.
  ///   - cost: What deriving a key from a password costs in slots made from now on.
  ///   - createIfMissing: Whether a missing folder, and a new vault in it, is made.
  /// - Returns: The vault.
  /// - Throws: ``SignetVault/VaultFailure``; a TPM that is named and is not there is a failure, never replaced by a file.
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

/// Which hardware a vault may use.
private struct KeystoreChoice {
  /// What a new vault is made with; `nil` for a file.
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
        // A vault that was made with the TPM needs it, also where the user has lost the right to it since.
        hardware = keystore
        keystoreForNew = access("/dev/tpmrm0", R_OK | W_OK) == 0 ? keystore : nil
      }
    }
  #else
    init(_ tpm: String?) throws(VaultFailure) { (keystoreForNew, hardware) = (nil, nil) }
  #endif

  /// The hardware, if it is of this kind.
  func keystore(of kind: KeystoreKind) -> (any HardwareKeystore)? { hardware?.kind == kind ? hardware : nil }
}
