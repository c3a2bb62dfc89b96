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

  /// Reads what a decision says before its signature is verified; `nil` where it is not of the protocol's form.
  ///
  /// Anyone may have written it: it is for saying what is wrong with it, not for acting on it.
  public init?(unverified jws: String) {
    guard let message = ES256Message(jws, type: Self.type) else { return nil }
    do { try self.init(parsing: message.unverifiedPayload) } catch { return nil }
  }

  /// Reads a signed decision; `nil` unless the key signed it and it is of the protocol's form.
  public init?(verifying jws: String, signedBy key: P256.Signing.PublicKey) {
    guard let payload = ES256Message(jws, type: Self.type)?.payload(signedBy: key) else { return nil }
    do { try self.init(parsing: payload) } catch { return nil }
  }
}
