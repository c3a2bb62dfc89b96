import SignetCrypto
import SignetOATH

/// The digits that a device shows for what was carried to it: OCRA (RFC 6287) under a key that each kind has for itself.
enum CarriedAnswer {
  /// Computes the digits.
  ///
  /// - Parameters:
  ///   - fields: What is answered; not empty.
  ///   - suite: An OCRA suite that takes a challenge alone.
  ///   - label: What nothing else derives a key with.
  ///   - otpSecret: The container's secret of one-time passwords, 32 bytes.
  ///   - container: Whose answer it is.
  /// - Returns: As many digits as the suite has.
  static func digits(
    signing fields: [String], suite: String, label: String, otpSecret: borrowing SecretBytes,
    container: ContainerID
  ) -> String {
    let key = HKDF.expand(
      otpSecret, info: Array(label.utf8) + [0] + Array(container.text.utf8), byteCount: 32, .sha256)
    do throws(OCRAFailure) {
      let suite = try OCRASuite(suite)
      return try OCRA(secret: key, suite: suite).response(to: OCRAChallenge(signing: fields, for: suite))
    } catch { preconditionFailure("a suite and a question of fixed form are refused: \(error)") }
  }
}
