package import SignetCrypto

/// A signing key of a container, in software or in the hardware that made it.
///
/// For a hardware key, the container has the key's blob and an authorization of 32 random bytes. The hardware requires both
/// for each signature. Both lie in a record under the domain's master key. An attacker with the files and the hardware, but
/// without the domain's password or other opening, cannot sign.
package struct ContainerSigningKey: Sendable {
  /// The keystore that holds the key and signs.
  package let origin: KeystoreKind
  package let publicKey: P256.Signing.PublicKey
  private let material: Material

  private enum Material: Sendable {
    case software(P256.Signing.PrivateKey)
    /// The vault signs, because calls of its keystore may block.
    case hardware(blob: [UInt8], authorization: SharedSecretBox, vault: Vault)
  }

  static let authorizationByteCount = 32
  private static let scalarByteCount = 32
  private static let pointByteCount = 65

  /// Creates a key in software.
  package init(_ key: P256.Signing.PrivateKey) {
    origin = .software
    publicKey = key.publicKey
    material = .software(key)
  }

  fileprivate init(
    _ key: HardwareSigningKey, authorization: SharedSecretBox, of origin: KeystoreKind, in vault: Vault
  ) {
    self.origin = origin
    publicKey = key.publicKey
    material = .hardware(blob: key.blob, authorization: authorization, vault: vault)
  }

  /// Reads a record: a private scalar of 32 bytes, or the form that ``record`` has for a hardware key.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - vault: The vault whose keystore signs with a hardware key.
  /// - Throws: ``CryptoFailure`` for any other form.
  package init(record: borrowing SecretBytes, in vault: Vault) throws(CryptoFailure) {
    guard record.byteCount != Self.scalarByteCount else {
      self.init(try P256.Signing.PrivateKey(rawRepresentation: record))
      return
    }
    let head = 1 + Self.authorizationByteCount
    let rest = record.byteCount - head - Self.pointByteCount
    guard rest > 0 else { throw .invalidPrivateKey }
    let code = record.withUInt8Span { $0[0] }
    guard let origin = KeystoreKind.allCases.first(where: { $0 != .software && $0.code == code }) else {
      throw .invalidPrivateKey
    }
    let authorization = record.withBytes {
      SecretBytes(copying: $0.extracting(1..<head))
    }
    let publicBytes = record.withUInt8Span { span in (head..<span.count).map { span[$0] } }
    let publicKey = try P256.Signing.PublicKey(x963: Array(publicBytes.prefix(Self.pointByteCount)))
    self.init(
      HardwareSigningKey(blob: Array(publicBytes.dropFirst(Self.pointByteCount)), publicKey: publicKey),
      authorization: SharedSecretBox(authorization), of: origin, in: vault)
  }

  package var record: SharedSecretBox {
    switch material {
    case .software(let key): return SharedSecretBox(key.rawRepresentation)
    case .hardware(let blob, let authorization, _):
      let head = SecretBytes(copying: [origin.code])
      let tail = SecretBytes(copying: publicKey.x963Representation + blob)
      return SharedSecretBox(authorization.withSecret { head.joined(with: $0) }.joined(with: tail))
    }
  }

  /// Signs a message with ECDSA and SHA-256.
  ///
  /// - Returns: The signature.
  /// - Throws: ``VaultFailure``: `keystore` if the hardware fails to sign, `otherKeystore` for a key of other hardware.
  package func signature(of message: [UInt8]) async throws(VaultFailure) -> ECDSASignature {
    switch material {
    case .software(let key):
      do throws(CryptoFailure) { return try key.signature(for: message) } catch { throw .crypto(error) }
    case .hardware(let blob, let authorization, let vault):
      return try await vault.signature(
        ofDigest: HashFunction.sha256.digest(of: message), with: blob, authorization: authorization,
        of: origin)
    }
  }
}

extension Vault {
  /// Makes a signing key: in the hardware if it supports this, otherwise in software.
  ///
  /// A silent domain must use ``ContainerSigningKey/init(_:)``, a software key. A hardware key would reveal whether a
  /// guessed password is right.
  ///
  /// - Throws: ``VaultFailure/keystore(_:)``.
  package func makeSigningKey() throws(VaultFailure) -> ContainerSigningKey {
    guard let hardware = keystore as? any SigningKeystore else {
      return ContainerSigningKey(P256.Signing.PrivateKey())
    }
    let authorization = SharedSecretBox(
      .random(byteCount: ContainerSigningKey.authorizationByteCount))
    do throws(KeystoreFailure) {
      let key = try authorization.withSecret { (authorization) throws(KeystoreFailure) in
        try hardware.makeSigningKey(authorization: authorization)
      }
      return ContainerSigningKey(key, authorization: authorization, of: keystore.kind, in: self)
    } catch { throw .keystore(error) }
  }

  /// Signs a digest with a key of the keystore.
  fileprivate func signature(
    ofDigest digest: [UInt8], with blob: [UInt8], authorization: SharedSecretBox, of origin: KeystoreKind
  ) throws(VaultFailure) -> ECDSASignature {
    guard origin == keystore.kind, let hardware = keystore as? any SigningKeystore else {
      throw .otherKeystore(found: origin, expected: keystore.kind)
    }
    do throws(KeystoreFailure) {
      return try authorization.withSecret { (authorization) throws(KeystoreFailure) in
        try hardware.signature(ofDigest: digest, with: blob, authorization: authorization)
      }
    } catch { throw .keystore(error) }
  }
}
