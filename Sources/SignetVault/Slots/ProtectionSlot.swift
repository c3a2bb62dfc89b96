package import SignetCrypto

/// A master key wrapped for one way of opening it.
///
/// Every slot has a hardware secret that the keystore sealed. The key that wraps is HKDF-SHA256: where nothing but the hardware
/// opens, with the hardware secret as input key and the header's salt as salt; where the user knows something, with what was
/// derived from that as input key and the hardware secret as salt. So without the hardware there is nothing to guess against,
/// and without the user the hardware gives nothing. `info` is `signet slot key v1` and the SHA-256 of the header.
///
/// A *silent* slot has no tag under that key: see ``SilentSealing``.
package struct ProtectionSlot: Equatable {
  package var header: SlotHeader
  /// The hardware secret, sealed by the keystore.
  package var sealedSecret: [UInt8]
  /// The master key under the key above, bound to the header.
  var wrappedKey: [UInt8]

  static let keyByteCount = 32

  /// Makes a slot with a hardware secret that is sealed already.
  package static func wrapping(
    _ masterKey: borrowing SecretBytes, header: SlotHeader, derived: SharedSecretBox?,
    hardwareSecret: borrowing SecretBytes, sealed: [UInt8]
  ) throws -> ProtectionSlot {
    let wrappingKey = header.wrappingKey(hardwareSecret: hardwareSecret, derived: derived)
    let wrapped =
      if header.isSilent {
        try SilentSealing(hardwareSecret: hardwareSecret, place: header.place).wrap(
          masterKey, keystream: wrappingKey, header: header)
      } else {
        try AESGCM.sealCombined(masterKey, key: wrappingKey, additionalData: header.bytes)
      }
    return ProtectionSlot(header: header, sealedSecret: sealed, wrappedKey: wrapped)
  }

  /// Unwraps the master key.
  ///
  /// `derived` is what was derived from what the user knows; `nil` where the hardware alone opens.
  ///
  /// - Returns: `nil` if the key does not fit: where the user knows something and the row is authentic, it was wrong. A silent
  ///   slot always gives a key, which is right only if what the user knows is.
  /// - Throws: ``CryptoFailure`` if a silent slot was changed.
  package func unwrap(hardwareSecret: borrowing SecretBytes, derived: SharedSecretBox?) throws -> SecretBytes?
  {
    let wrappingKey = header.wrappingKey(hardwareSecret: hardwareSecret, derived: derived)
    if header.isSilent {
      return try SilentSealing(hardwareSecret: hardwareSecret, place: header.place).unwrap(
        wrappedKey, keystream: wrappingKey, header: header)
    }
    do {
      let key = try AESGCM.openCombined(wrappedKey, key: wrappingKey, additionalData: header.bytes)
      guard key.byteCount == Self.keyByteCount else { return nil }
      return key
    } catch CryptoFailure.authenticationFailed { return nil }
  }

  /// What a keystore that counts guesses compares: from the password, and of no use for unwrapping.
  package static func authorization(_ derived: SharedSecretBox) -> SecretBytes {
    derived.withSecret {
      HKDF.expand($0, info: Array("signet slot authorization v1".utf8), byteCount: keyByteCount, .sha256)
    }
  }
}

extension SlotHeader {
  /// Derives bytes from a password, for as long as the cost says.
  package func derive(_ password: borrowing SecretBytes, _ derivation: PasswordDerivation) throws
    -> SecretBytes
  {
    guard case .password(let cost, _) = opening else { preconditionFailure("this slot has no password") }
    return try DeadStack.wiped { try derivation.derive(password, salt, cost) }
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
