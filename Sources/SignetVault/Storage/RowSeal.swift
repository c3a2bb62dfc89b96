package import SignetCrypto
import SignetSQLite

/// Authenticates rows under a key that the hardware keeps, so that a change by anything else is noticed before it has an effect.
///
/// The code is HMAC-SHA256 over the purpose, the vault and all columns of the row, as ``CanonicalBytes``. It does not stop
/// whoever puts back an older row or file that was once right: only hardware that counts can.
package struct RowSeal {
  let vault: Identifier
  private let key: HMACKey

  /// Derives the key for rows from the vault's key of 32 random bytes.
  package init(vault: Identifier, vaultKey: borrowing SecretBytes) {
    self.vault = vault
    let rowKey = HKDF.derive(
      inputKey: vaultKey, salt: vault.bytes, info: Array("signet vault row key v1".utf8), byteCount: 32,
      .sha256)
    key = HMACKey(rowKey, .sha256)
  }

  /// The code for the columns of a row.
  package func code(_ row: CanonicalBytes) -> [UInt8] { key.authenticationCode(for: bound(row)) }

  /// Whether `code` is that of the row.
  func isValid(_ code: [UInt8], _ row: CanonicalBytes) -> Bool { key.isValid(code, for: bound(row)) }

  private func bound(_ row: CanonicalBytes) -> [UInt8] {
    var bound = CanonicalBytes("signet vault row v1")
    bound.append(vault.bytes)
    bound.append(row.bytes)
    return bound.bytes
  }
}
