import Glibc
import SignetTPM
public import SignetVault

extension HardwareChoice {
  /// A TPM 2.0.
  ///
  /// Without an address it is `/dev/tpmrm0`: a new vault uses it where this user may, and a vault that was made with it needs it.
  ///
  /// - Parameter address: `device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321` or `swtpm:path=SOCKET`; `none` for no hardware.
  /// - Returns: The choice.
  /// - Throws: ``SignetVault/VaultFailure/keystore(_:)`` if the address has another form.
  public static func tpm(_ address: String? = nil) throws(VaultFailure) -> HardwareChoice {
    switch address {
    case nil:
      return HardwareChoice(
        TPMKeystore(.standard), isForNewVaults: unsafe access("/dev/tpmrm0", R_OK | W_OK) == 0)
    case "none": return .none
    case let address?:
      do throws(KeystoreFailure) { return HardwareChoice(TPMKeystore(try TPMAddress(address))) } catch {
        throw .keystore(error)
      }
    }
  }
}
