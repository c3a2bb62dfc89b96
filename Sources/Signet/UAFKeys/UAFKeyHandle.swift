package import SignetCrypto
package import SignetIdentifiers
package import SignetVault

/// The content of a key handle: the access token of its caller, the key ID and the user name.
///
/// The authenticator wraps it with AES-256-GCM before it leaves. The wrapping key can be opened on this device only, and
/// the AAID is the additional data. The private key stays in the vault, so the handle contains only its key ID.
package struct UAFKeyHandle {
  package let accessToken: [UInt8]
  package let keyID: KeyID
  package let username: String

  package static let accessTokenByteCount = 32
  package static let keyIDByteCount = 32
  package static let usernameByteCounts = 1...128

  package init(accessToken: [UInt8], keyID: KeyID, username: String) {
    self.accessToken = accessToken
    self.keyID = keyID
    self.username = username
  }

  /// Unwraps a handle; `nil` if this authenticator has not wrapped it.
  package init?(unwrapping bytes: [UInt8], by key: SharedSecretBox, of aaid: AAID) {
    let raw: [UInt8]
    do throws(CryptoFailure) {
      raw = try key.withSecret { (key) throws(CryptoFailure) in
        try AESGCM.openCombinedBytes(bytes, key: key, additionalData: Self.context(aaid))
      }
    } catch { return nil }
    let head = Self.accessTokenByteCount + Self.keyIDByteCount
    guard raw.count > head, raw.count == head + 1 + Int(raw[head]),
      let keyID = KeyID(Array(raw[Self.accessTokenByteCount..<head])),
      let username = String(validating: raw[(head + 1)...], as: UTF8.self)
    else { return nil }
    self.init(accessToken: Array(raw.prefix(Self.accessTokenByteCount)), keyID: keyID, username: username)
  }

  /// Returns the wrapped handle: 32 bytes of access token, 32 bytes of key ID, one length byte and the user name, encrypted.
  ///
  /// - Precondition: The token and the key ID have 32 bytes, and the user name has 1 to 128.
  package func wrapped(by key: SharedSecretBox, of aaid: AAID) throws(VaultFailure) -> [UInt8] {
    let name = Array(username.utf8)
    precondition(
      accessToken.count == Self.accessTokenByteCount && keyID.bytes.count == Self.keyIDByteCount
        && Self.usernameByteCounts.contains(name.count), "a handle has parts of fixed lengths")
    let raw = SecretBytes(copying: accessToken + keyID.bytes + [UInt8(name.count)] + name)
    do throws(CryptoFailure) {
      return try key.withSecret { (key) throws(CryptoFailure) in
        try AESGCM.sealCombined(raw, key: key, additionalData: Self.context(aaid))
      }
    } catch { throw .crypto(error) }
  }

  private static func context(_ aaid: AAID) -> [UInt8] { Array("signet uaf key handle v1 \(aaid)".utf8) }
}
