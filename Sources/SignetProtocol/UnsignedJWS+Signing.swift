import SignetCrypto
import SignetJOSE

extension UnsignedJWS {
  /// Creates an ES256 JWS over a payload, with a signature from a closure.
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
