import SignetCrypto

/// The sealing of *silent* domains, in which a wrong password cannot be distinguished from the right one.
///
/// It has two layers. The inner layer hides uniform bytes under a keystream that depends on the password, without a tag.
/// With any password they decrypt to uniform bytes. The outer layer is AES-256-GCM under keys from the hardware secret
/// alone, so changes by other software are detected independently of the password. An attacker with the files and the
/// hardware secret can read the inner bytes, but cannot verify a guessed password: `docs/threat-model.md` has the argument.
///
/// - The master key: exclusive or with the slot's wrapping key, which is used for nothing else; outer key
///   HKDF-SHA256(hardware secret, salt: the header's, info: `signet silent slot v1`), bound to the header.
/// - A record: the form (1 bytes, 2 P-256 seed), a nonce of 16 bytes, then the bytes exclusive or HKDF-Expand(master key,
///   info: `signet silent keystream v1`, nonce, the record's context); outer key HKDF-SHA256(hardware secret, salt: the
///   vault's identifier, info: `signet silent record v1`), bound to the record's context.
struct SilentSealing: Sendable {
  /// The longest record; HKDF gives no more than 8160 bytes.
  static let maximumByteCount = 1024
  private static let nonceByteCount = 16

  private let slotSecret: SharedSecretBox
  private let recordKey: SharedSecretBox
  private let domainID: DomainID

  init(hardwareSecret: borrowing SecretBytes, domainID: DomainID) {
    slotSecret = SharedSecretBox(hardwareSecret.copy())
    recordKey = SharedSecretBox(
      HKDF.derive(
        inputKey: hardwareSecret, salt: domainID.vault.bytes, info: Array("signet silent record v1".utf8),
        byteCount: 32,
        .sha256))
    self.domainID = domainID
  }

  func wrap(
    _ masterKey: borrowing SecretBytes, keystream: borrowing SecretBytes, header: SlotHeader
  ) throws(CryptoFailure) -> [UInt8] {
    try AESGCM.sealCombined(
      masterKey.exclusiveOr(with: keystream), key: slotKey(header), additionalData: header.bytes)
  }

  /// Returns the right master key for the right keystream, and another key for any other keystream.
  func unwrap(
    _ wrapped: [UInt8], keystream: borrowing SecretBytes, header: SlotHeader
  ) throws(CryptoFailure) -> SecretBytes {
    let inner = try AESGCM.openCombined(wrapped, key: slotKey(header), additionalData: header.bytes)
    guard inner.byteCount == keystream.byteCount else { throw .authenticationFailed }
    return inner.exclusiveOr(with: keystream)
  }

  func sealRecord(
    _ name: String, _ secret: borrowing SecretBytes, _ form: SecretForm, masterKey: borrowing SecretBytes
  ) throws -> [UInt8] {
    let uniform: SecretBytes
    switch form {
    case .bytes: uniform = secret.copy()
    case .p256PrivateKey:
      uniform = try P256.Signing.PrivateKey(rawRepresentation: secret).randomSeed()
    }
    let nonce = SystemRandomSource().bytes(Self.nonceByteCount)
    let keystream = keystream(masterKey, nonce, name, byteCount: uniform.byteCount)
    let inner = SecretBytes(copying: [form.rawValue] + nonce).joined(
      with: uniform.exclusiveOr(with: keystream))
    return try recordKey.withSecret {
      try AESGCM.sealCombined(inner, key: $0, additionalData: domainID.recordContext(name))
    }
  }

  /// Returns the record for the right master key, and another record of the same form for any other master key.
  func openRecord(
    _ name: String, _ sealed: [UInt8], masterKey: borrowing SecretBytes
  ) throws(CryptoFailure) -> SecretBytes {
    let inner = try recordKey.withSecret { (key) throws(CryptoFailure) in
      try AESGCM.openCombined(sealed, key: key, additionalData: domainID.recordContext(name))
    }
    let headByteCount = 1 + Self.nonceByteCount
    guard inner.byteCount >= headByteCount else { throw .authenticationFailed }
    let (form, nonce, hidden) = inner.withBytes { bytes in
      let head = SecretBytes(copying: bytes.extracting(first: headByteCount)).insecureCopy()
      return (
        SecretForm(rawValue: head[0]), Array(head.dropFirst()),
        SharedSecretBox(SecretBytes(copying: bytes.extracting(droppingFirst: headByteCount)))
      )
    }
    guard let form else { throw .authenticationFailed }
    return try hidden.withSecret { (hidden) throws(CryptoFailure) in
      let uniform = hidden.exclusiveOr(with: keystream(masterKey, nonce, name, byteCount: hidden.byteCount))
      switch form {
      case .bytes: return uniform
      case .p256PrivateKey: return try P256.Signing.PrivateKey(seed: uniform).rawRepresentation
      }
    }
  }

  private func slotKey(_ header: SlotHeader) -> SecretBytes {
    slotSecret.withSecret {
      HKDF.derive(
        inputKey: $0, salt: header.salt, info: Array("signet silent slot v1".utf8),
        byteCount: ProtectionSlot.keyByteCount, .sha256)
    }
  }

  private func keystream(
    _ masterKey: borrowing SecretBytes, _ nonce: [UInt8], _ name: String, byteCount: Int
  ) -> SecretBytes {
    var info = CanonicalBytes("signet silent keystream v1")
    info.append(nonce)
    info.append(domainID.recordContext(name))
    return HKDF.expand(masterKey, info: info.bytes, byteCount: byteCount, .sha256)
  }
}

/// The form of a record's bytes, which selects how a silent domain hides them; other domains ignore it.
package enum SecretForm: UInt8, Sendable, Hashable {
  /// Uniformly distributed bytes, such as a one-time password secret.
  case bytes = 1
  /// A private scalar of P-256, 32 bytes big-endian.
  case p256PrivateKey = 2
}
