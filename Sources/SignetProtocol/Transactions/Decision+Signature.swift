public import SignetCrypto

extension Decision {
  /// Signs the decision with ES256; `kid` is the key's thumbprint.
  ///
  /// - Parameters:
  ///   - key: The signing key's public half.
  ///   - sign: Signs a message with ECDSA and SHA-256.
  /// - Returns: A compact JWS that anyone can verify with the public key.
  /// - Throws: The error that `sign` throws.
  public func signed<Failure: Error>(
    for key: P256.Signing.PublicKey, by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await ES256Message.signed(bytes, for: key, type: Self.type, by: sign)
  }

  /// Verifies and parses a signed decision; `nil` if the key did not sign it or it is malformed.
  public init?(verifying jws: String, signedBy key: P256.Signing.PublicKey) {
    guard let claimed = ClaimedDecision(jws), claimed.isSigned(by: key) else { return nil }
    self = claimed.decision
  }
}

/// A decision as it arrived: read, but not verified.
public struct ClaimedDecision: Sendable {
  /// The decision that the sender claims; use it to report errors only.
  public let decision: Decision
  private let message: ES256Message

  /// Parses a decision; `nil` if it is malformed.
  public init?(_ jws: String) {
    guard let message = ES256Message(jws, type: Decision.type) else { return nil }
    do { decision = try Decision(parsing: message.unverifiedPayload) } catch { return nil }
    self.message = message
  }

  /// Indicates whether the key signed this message and its `typ` is that of a decision.
  public func isSigned(by key: P256.Signing.PublicKey) -> Bool { message.payload(signedBy: key) != nil }
}
