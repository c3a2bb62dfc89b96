public import SignetCrypto

/// The keys that both sides derive during an activation (`docs/protocol.md` section 3.2).
///
/// Both sides run the same key schedule, each with its own ephemeral private key and the other's public key. A side that
/// does not know the invite, or that saw one different byte of the handshake, derives different keys.
public struct ActivationSecrets: ~Copyable, Sendable {
  private let prk: SecretBytes
  /// T2: the hash of the whole handshake, 32 bytes.
  public let transcript: [UInt8]

  /// Runs the key schedule.
  ///
  /// - Parameters:
  ///   - ownKey: This side's ephemeral private key.
  ///   - peerKey: The other side's ephemeral public key.
  ///   - inviteKey: The result of ``InviteCode/key(salt:costs:)``, 32 bytes.
  ///   - startTranscript: T1, from ``startTranscript(start:offer:)``.
  ///   - core: The payload of the device's JWS, exactly as signed.
  /// - Throws: `CryptoFailure` if the key agreement fails.
  public init(
    ownKey: P256.KeyAgreement.PrivateKey, peerKey: P256.KeyAgreement.PublicKey,
    inviteKey: borrowing SecretBytes, startTranscript: [UInt8], core: [UInt8]
  ) throws(CryptoFailure) {
    let sharedSecret = try ownKey.sharedSecret(with: peerKey)
    prk = HKDF.extract(salt: inviteKey, inputKey: sharedSecret, .sha256)
    transcript = HashFunction.sha256.digest(
      of: Self.label("signet/1 finish") + startTranscript + HashFunction.sha256.digest(of: core))
  }

  /// Returns T1: the hash of the request body of *start* and of the offer, both exactly as sent.
  public static func startTranscript(start: [UInt8], offer: [UInt8]) -> [UInt8] {
    HashFunction.sha256.digest(of: label("signet/1 start") + lengthPrefixed(start) + lengthPrefixed(offer))
  }

  /// Derives the key of the device's proof, `Kd`, 32 bytes.
  public borrowing func deviceProofKey() -> SecretBytes { derive("signet/1 device proof") }
  /// Derives the key of the server's proof, `Ks`, 32 bytes.
  public borrowing func serverProofKey() -> SecretBytes { derive("signet/1 server proof") }
  /// Derives the secret of the container's one-time passwords, 32 bytes.
  public borrowing func otpSecret() -> SecretBytes { derive("signet/1 otp") }

  private borrowing func derive(_ label: String) -> SecretBytes {
    HKDF.expand(prk, info: Self.label(label) + transcript, byteCount: 32, .sha256)
  }

  private static func label(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  private static func lengthPrefixed(_ bytes: [UInt8]) -> [UInt8] {
    let count = UInt32(bytes.count)
    return [
      UInt8(truncatingIfNeeded: count >> 24), UInt8(truncatingIfNeeded: count >> 16),
      UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
    ] + bytes
  }
}
