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
  let material: Material

  enum Material: Sendable {
    case software(P256.Signing.PrivateKey)
    case hardware(blob: [UInt8], authorization: SharedSecretBox)
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

  init(_ key: HardwareSigningKey, authorization: SharedSecretBox, in origin: KeystoreKind) {
    (self.origin, publicKey) = (origin, key.publicKey)
    material = .hardware(blob: key.blob, authorization: authorization)
  }

  /// Reads a record: a private scalar of 32 bytes, or the form that ``record`` has for a hardware key.
  ///
  /// - Throws: ``CryptoFailure`` for any other form.
  package init(record: borrowing SecretBytes) throws(CryptoFailure) {
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
      authorization: SharedSecretBox(authorization), in: origin)
  }

  package var record: SharedSecretBox {
    switch material {
    case .software(let key): return SharedSecretBox(key.rawRepresentation)
    case .hardware(let blob, let authorization):
      let head = SecretBytes(copying: [origin.code])
      let tail = SecretBytes(copying: publicKey.x963Representation + blob)
      return SharedSecretBox(authorization.withSecret { head.joined(with: $0) }.joined(with: tail))
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
      return ContainerSigningKey(key, authorization: authorization, in: keystore.kind)
    } catch { throw .keystore(error) }
  }

  /// Signs a message with ECDSA and SHA-256, with a software or a hardware key.
  ///
  /// - Throws: ``VaultFailure``: `keystore` if the hardware fails to sign, `otherKeystore` for a key of other hardware.
  package func signature(
    of message: [UInt8], with key: ContainerSigningKey
  ) throws(VaultFailure) -> ECDSASignature {
    switch key.material {
    case .software(let key):
      do throws(CryptoFailure) { return try key.signature(for: message) } catch { throw .crypto(error) }
    case .hardware(let blob, let authorization):
      guard key.origin == keystore.kind, let hardware = keystore as? any SigningKeystore else {
        throw .otherKeystore(found: key.origin, expected: keystore.kind)
      }
      let digest = HashFunction.sha256.digest(of: message)
      do throws(KeystoreFailure) {
        return try authorization.withSecret { (authorization) throws(KeystoreFailure) in
          try hardware.signature(ofDigest: digest, with: blob, authorization: authorization)
        }
      } catch { throw .keystore(error) }
    }
  }
}

extension UnlockedDomain {
  /// The signing key in a record.
  ///
  /// - Throws: ``VaultFailure/noSuchRecord(name:)``, ``VaultFailure/altered(_:)``, ``CryptoFailure`` if the record is not a key.
  package borrowing func signingKey(_ name: String) throws -> ContainerSigningKey {
    try withRecord(name) { try ContainerSigningKey(record: SecretBytes(copying: $0)) }
  }
}
