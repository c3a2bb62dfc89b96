public import SignetCrypto

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
    try await ES256Message.signed(bytes, for: key, type: Self.type, by: sign)
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
  private let message: ES256Message

  /// Reads a decision; `nil` where it is not of the protocol's form.
  public init?(_ jws: String) {
    guard let message = ES256Message(jws, type: Decision.type) else { return nil }
    do { decision = try Decision(parsing: message.unverifiedPayload) } catch { return nil }
    self.message = message
  }

  /// Whether the key signed it, as a decision.
  public func isSigned(by key: P256.Signing.PublicKey) -> Bool { message.payload(signedBy: key) != nil }
}
