package import SignetCrypto
import SignetSQLite

/// A key for row MACs, protected by the hardware, so that a change by other software is detected before it has an effect.
///
/// The MAC is HMAC-SHA256 over the purpose, the vault and all columns of the row, as ``CanonicalBytes``. It does not detect
/// an older row or file that was once valid: only a hardware counter does.
package struct RowSeal {
  let vault: Identifier
  private let key: HMACKey

  /// Derives the row key from the vault's key of 32 random bytes.
  package init(vault: Identifier, vaultKey: borrowing SecretBytes) {
    self.vault = vault
    let rowKey = HKDF.derive(
      inputKey: vaultKey, salt: vault.bytes, info: Array("signet vault row key v1".utf8), byteCount: 32,
      .sha256)
    key = HMACKey(rowKey, .sha256)
  }

  /// The MAC of the row's columns.
  package func code(_ row: CanonicalBytes) -> [UInt8] { key.authenticationCode(for: bound(row)) }

  /// Returns true if the MAC `code` verifies for the row.
  func isValid(_ code: [UInt8], _ row: CanonicalBytes) -> Bool { key.isValid(code, for: bound(row)) }

  private func bound(_ row: CanonicalBytes) -> [UInt8] {
    var bound = CanonicalBytes("signet vault row v1")
    bound.append(vault.bytes)
    bound.append(row.bytes)
    return bound.bytes
  }
}
