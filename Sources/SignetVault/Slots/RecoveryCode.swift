public import SignetCrypto

/// A code that opens a domain when its password is forgotten or locked: 128 random bits, shown once.
///
/// The device is needed too, so a found code opens nothing without it.
public struct RecoveryCode: Sendable, CustomStringConvertible {
  static let byteCount = 16
  private static let groupSize = 4

  /// The 16 bytes.
  let secret: SharedSecretBox

  package init() { secret = SharedSecretBox(.random(byteCount: Self.byteCount)) }

  /// Parses a typed code; case, hyphens and spaces are ignored.
  ///
  /// - Parameter text: 26 symbols of Crockford's Base32 and a check symbol.
  /// - Throws: ``SignetCrypto/CrockfordBase32Failure``, which distinguishes a typing error from a wrong length.
  public init(_ text: String) throws(CrockfordBase32Failure) {
    var bytes = try CrockfordBase32.decode(text, byteCount: Self.byteCount, withCheckSymbol: true)
    secret = SharedSecretBox(SecretBytes(copying: bytes))
    bytes.wipe()
  }

  /// The code for printing, in groups of four; the returned copy cannot be wiped.
  public var text: String {
    secret.withSecret { secret in
      secret.withTemporaryArray {
        CrockfordBase32.encode($0, withCheckSymbol: true, groupSize: Self.groupSize)
      }
    }
  }

  /// A fixed text without the code.
  public var description: String { "recovery code" }
}
