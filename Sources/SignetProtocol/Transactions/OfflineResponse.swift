import SignetCrypto
import SignetOATH

/// The response digits of a device to a transaction that the user carries to it: OCRA (RFC 6287) with a key per kind.
enum OfflineResponse {
  /// Computes the response.
  ///
  /// - Parameters:
  ///   - fields: The signed fields; not empty.
  ///   - suite: An OCRA suite whose only input is a challenge.
  ///   - label: The unique label of this kind for the key derivation.
  ///   - otpSecret: The container's one-time password secret, 32 bytes.
  ///   - container: The container that responds.
  /// - Returns: The response, with the suite's number of digits.
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
