import CReleaseKey
public import SignetCrypto

/// The public key that verifies this program's manifest.
public enum ReleaseKey {
  /// The key that the program was linked with (`Scripts/release`); `nil` for a program without a release.
  public static var builtIn: P256.Signing.PublicKey? {
    let digits = unsafe String(cString: signet_release_key())
    return digits.isEmpty ? nil : Self.key(digits)
  }

  /// Parses a key from 130 hexadecimal digits: an uncompressed point.
  public static func key(_ digits: String) -> P256.Signing.PublicKey? {
    do { return try P256.Signing.PublicKey(x963: Hex.decode(digits)) } catch { return nil }
  }
}
