import CReleaseKey
public import SignetCrypto

/// The key by which this program knows its manifest.
public enum ReleaseKey {
  /// The key that the program was linked with (`Scripts/release`); `nil` for a program that belongs to no release.
  public static var builtIn: P256.Signing.PublicKey? {
    let digits = unsafe String(cString: signet_release_key())
    return digits.isEmpty ? nil : Self.key(digits)
  }

  /// The key that 130 hexadecimal digits are: an uncompressed point.
  public static func key(_ digits: String) -> P256.Signing.PublicKey? {
    do { return try P256.Signing.PublicKey(x963: Hex.decode(digits)) } catch { return nil }
  }
}
