import SignetCrypto
import SignetJOSE

extension UnsignedJWS {
  /// A JWS with ES256 over a payload, signed by whatever has the key.
  static func signed<Failure: Error>(
    _ payload: [UInt8], keyID: String, type: String,
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    let unsigned: UnsignedJWS
    do throws(JOSEFailure) {
      unsigned = try UnsignedJWS(payload: payload, algorithm: .es256, keyID: keyID, type: type)
    } catch { preconditionFailure("a header without further members is refused: \(error)") }
    return unsigned.signed(bearing: try await sign(unsigned.signingInput).rawRepresentation)
  }
}
