package import SignetCrypto

/// An HTTP Message Signature (RFC 9421) of a request to another server: `ecdsa-p256-sha256` over method, URL and the digest
/// of the content (RFC 9530).
///
/// It lets the receiver authenticate the sender and detect modifications.
package struct MessageSignature: Sendable {
  private static let components = #"("@method" "@target-uri" "content-type" "content-digest")"#

  private let key: P256.Signing.PrivateKey
  private let keyID: String

  /// Creates a signer.
  ///
  /// - Parameters:
  ///   - key: The private key.
  ///   - keyID: The id with which the receiver finds the public key; visible ASCII without quotes and backslashes.
  package init(_ key: P256.Signing.PrivateKey, keyID: String) { (self.key, self.keyID) = (key, keyID) }

  /// Returns the signed header fields of a request.
  ///
  /// - Parameters:
  ///   - method: The method in upper case.
  ///   - url: The URL exactly as requested.
  ///   - contentType: The value of `Content-Type`.
  ///   - body: The content.
  ///   - time: The time of signing, in seconds since 1970.
  /// - Returns: `Content-Type`, `Content-Digest`, `Signature-Input`, `Signature`.
  /// - Throws: `CryptoFailure` if signing fails.
  package func fields(
    method: String, url: String, contentType: String, body: [UInt8], at time: Int64
  ) throws(CryptoFailure) -> [(String, String)] {
    let digest = "sha-256=:\(Base64.encode(HashFunction.sha256.digest(of: body))):"
    let parameters =
      #"\#(Self.components);created=\#(time);keyid="\#(keyID)";alg="ecdsa-p256-sha256""#
    // RFC 9421 section 2.5: the signature base.
    let base = """
      "@method": \(method)
      "@target-uri": \(url)
      "content-type": \(contentType)
      "content-digest": \(digest)
      "@signature-params": \(parameters)
      """
    let signature = try key.signature(for: Array(base.utf8)).rawRepresentation
    return [
      ("Content-Type", contentType), ("Content-Digest", digest), ("Signature-Input", "signet=\(parameters)"),
      ("Signature", "signet=:\(Base64.encode(signature)):"),
    ]
  }
}
