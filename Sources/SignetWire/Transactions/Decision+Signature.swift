public import SignetCrypto
import SignetJOSE

extension Decision {
  /// Signs the decision: ES256, `kid` is the key's thumbprint.
  ///
  /// - Parameters:
  ///   - key: The public key.
  ///   - sign: Signs a message with SHA-256.
  /// - Returns: A JWS that anyone can check with the public key.
  /// - Throws: What `sign` throws.
  public func signed<Failure: Error>(
    for key: P256.Signing.PublicKey, by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await UnsignedJWS.signed(bytes, keyID: key.thumbprint, type: Self.type, by: sign)
  }

  /// Reads a signed decision; `nil` unless the key signed it and it is of the protocol's form.
  public init?(verifying jws: String, signedBy key: P256.Signing.PublicKey) {
    guard let claimed = ClaimedDecision(jws), claimed.isSigned(by: key) else { return nil }
    self = claimed.decision
  }
}

/// A decision as it arrived: read, and not verified.
public struct ClaimedDecision: Sendable {
  /// What it says; anyone may have written it: it is for saying what is wrong with it, not for acting on it.
  public let decision: Decision
  private let jws: JWS

  /// Reads a decision; `nil` where it is not of the protocol's form.
  public init?(_ jws: String) {
    do {
      self.jws = try JWS(compact: jws, maximumByteCount: Wire.maximumByteCount)
      decision = try Decision(parsing: self.jws.unverifiedPayload)
    } catch { return nil }
  }

  /// Whether the key signed it, as a decision.
  public func isSigned(by key: P256.Signing.PublicKey) -> Bool {
    do {
      let verified = try jws.verified(with: VerificationKey(key), allowing: [.es256])
      return verified.header.type == Decision.type && verified.header.keyID == key.thumbprint
    } catch { return false }
  }
}
