package import SignetCrypto

/// A master key wrapped for one means of opening a domain.
///
/// Every slot has a hardware secret that the keystore sealed. The wrapping key is an HKDF-SHA256 output:
///
/// - If the hardware alone opens the slot, the input key is the hardware secret and the salt is the header's.
/// - If a password or code is needed, the input key is derived from it and the salt is the hardware secret.
///
/// So offline guessing needs the hardware, and the hardware alone does not open the slot. `info` is `signet slot key v1` and
/// the SHA-256 of the header.
///
/// A *silent* slot has no tag under that key: see ``SilentSealing``.
package struct ProtectionSlot: Equatable {
  package var header: SlotHeader
  package var sealedSecret: [UInt8]
  /// The master key under the wrapping key, bound to the header.
  var wrappedKey: [UInt8]

  static let keyByteCount = 32

  /// Makes a slot with a hardware secret that is already sealed.
  package static func wrapping(
    _ masterKey: borrowing SecretBytes, header: SlotHeader, derived: SharedSecretBox?,
    hardwareSecret: borrowing SecretBytes, sealed: [UInt8]
  ) throws -> ProtectionSlot {
    let wrappingKey = header.wrappingKey(hardwareSecret: hardwareSecret, derived: derived)
    let wrapped =
      if header.isSilent {
        try SilentSealing(hardwareSecret: hardwareSecret, domainID: header.domainID).wrap(
          masterKey, keystream: wrappingKey, header: header)
      } else {
        try AESGCM.sealCombined(masterKey, key: wrappingKey, additionalData: header.bytes)
      }
    return ProtectionSlot(header: header, sealedSecret: sealed, wrappedKey: wrapped)
  }

  /// Unwraps the master key.
  ///
  /// `derived` is the key derived from the password or code; `nil` if the hardware alone opens the slot.
  ///
  /// - Returns: `nil` if the key does not fit: if the row is authentic, the password or code was wrong. A silent slot always
  ///   returns a key, which is right only if the password is.
  /// - Throws: ``CryptoFailure`` if a silent slot was changed.
  package func unwrap(hardwareSecret: borrowing SecretBytes, derived: SharedSecretBox?) throws -> SecretBytes?
  {
    let wrappingKey = header.wrappingKey(hardwareSecret: hardwareSecret, derived: derived)
    if header.isSilent {
      return try SilentSealing(hardwareSecret: hardwareSecret, domainID: header.domainID).unwrap(
        wrappedKey, keystream: wrappingKey, header: header)
    }
    do {
      let key = try AESGCM.openCombined(wrappedKey, key: wrappingKey, additionalData: header.bytes)
      guard key.byteCount == Self.keyByteCount else { return nil }
      return key
    } catch CryptoFailure.authenticationFailed { return nil }
  }

  /// The authorization value for a keystore that counts guesses: derived from the password, and useless for unwrapping.
  package static func authorization(_ derived: SharedSecretBox) -> SecretBytes {
    derived.withSecret {
      HKDF.expand($0, info: Array("signet slot authorization v1".utf8), byteCount: keyByteCount, .sha256)
    }
  }
}

extension SlotHeader {
  /// Derives bytes from a password; the computation is as slow as the cost.
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
