import SignetCrypto

/// What opens a slot, beside the hardware of the device.
public enum SlotKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The device alone.
  case device = 1
  /// The device together with a password.
  case password = 2
}

/// Where a protection domain is: which vault, container and name.
struct DomainPlace: Hashable {
  var vault: Identifier
  var container: ContainerID
  var domain: String

  /// Whether a text may name a domain or a record: 1 to 64 visible ASCII characters.
  ///
  /// Names are chosen by programs; beyond ASCII, texts that Swift calls equal can have different bytes.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// What the hardware secret of a slot is for.
  func hardwareContext(_ kind: SlotKind) -> [UInt8] {
    var context = CanonicalBytes("signet slot hardware secret v1")
    context.append(vault.bytes)
    context.append(container.bytes)
    context.append(domain)
    context.append(Int64(kind.rawValue))
    return context.bytes
  }

  /// What a record of the domain is bound to, the version of the format included.
  func recordContext(_ name: String) -> [UInt8] {
    var context = CanonicalBytes("signet record v1")
    context.append(vault.bytes)
    context.append(container.bytes)
    context.append(domain)
    context.append(name)
    return context.bytes
  }
}

/// A master key wrapped for one way of opening it.
///
/// The key that wraps is, for a device slot, HKDF-SHA256 of the hardware secret with the salt; for a password slot, HKDF-SHA256
/// with the output of Argon2id as input key and the hardware secret as salt: without the hardware there is nothing to guess
/// against, and without the password the hardware gives nothing. `info` is `signet slot key v1` and the SHA-256 of the header.
struct ProtectionSlot {
  var header: SlotHeader
  /// The hardware secret, sealed by the keystore.
  var sealedSecret: [UInt8]
  /// The master key under the key above, bound to the header.
  var wrappedKey: [UInt8]

  static let keyByteCount = 32

  /// Makes a slot that opens with `password`, or for a device slot with `nil`.
  static func wrapping(
    _ masterKey: borrowing SecretBytes, header: SlotHeader, password: SharedSecretBox?,
    keystore: any HardwareKeystore, derivation: PasswordDerivation
  ) throws -> ProtectionSlot {
    let secret = SecretBytes.random(byteCount: keyByteCount)
    let sealed = try keystore.seal(secret, context: header.place.hardwareContext(header.kind))
    let derived = try password.map { password in
      SharedSecretBox(try password.withSecret { try header.derive($0, derivation) })
    }
    let wrappingKey = header.wrappingKey(hardwareSecret: secret, derived: derived)
    let wrapped = try AESGCM.sealCombined(masterKey, key: wrappingKey, additionalData: header.bytes)
    return ProtectionSlot(header: header, sealedSecret: sealed, wrappedKey: wrapped)
  }

  /// Unwraps the master key.
  ///
  /// `derived` is what ``SlotHeader/derive(_:_:)`` made of the password; `nil` for a device slot.
  ///
  /// - Returns: `nil` if the key does not fit: in a password slot whose row is authentic, the password is wrong.
  /// - Throws: ``KeystoreFailure``.
  func unwrap(hardwareSecret: borrowing SecretBytes, derived: SharedSecretBox?) throws -> SecretBytes? {
    let wrappingKey = header.wrappingKey(hardwareSecret: hardwareSecret, derived: derived)
    do {
      let key = try AESGCM.openCombined(wrappedKey, key: wrappingKey, additionalData: header.bytes)
      guard key.byteCount == Self.keyByteCount else { return nil }
      return key
    } catch CryptoFailure.authenticationFailed { return nil }
  }
}

extension SlotHeader {
  /// Derives bytes from a password, for as long as the cost says.
  func derive(_ password: borrowing SecretBytes, _ derivation: PasswordDerivation) throws -> SecretBytes {
    guard case .password(let cost, _) = opening else { preconditionFailure("a device slot has no password") }
    return try derivation.derive(password, salt, cost)
  }

  fileprivate func wrappingKey(hardwareSecret: borrowing SecretBytes, derived: SharedSecretBox?)
    -> SecretBytes
  {
    let info = Array("signet slot key v1".utf8) + HashFunction.sha256.digest(of: bytes)
    let extracted =
      if let derived {
        derived.withSecret { HKDF.extract(salt: hardwareSecret, inputKey: $0, .sha256) }
      } else {
        HKDF.extract(salt: salt, inputKey: hardwareSecret, .sha256)
      }
    return HKDF.expand(extracted, info: info, byteCount: ProtectionSlot.keyByteCount, .sha256)
  }
}
