import SignetCrypto
import SignetUAF
import SignetVault

/// What stands for a key outside of its authenticator: who may use it, which key of the vault it is, and whose.
///
/// It is wrapped before it leaves the authenticator: AES-256-GCM under a key that only the device opens, bound to the model. The
/// private key itself stays where it is, so a handle names it by its key id.
struct UAFKeyHandle {
  let accessToken: [UInt8]
  let keyID: KeyID
  let username: String

  static let accessTokenByteCount = 32
  static let keyIDByteCount = 32
  static let usernameByteCounts = 1...128

  init(accessToken: [UInt8], keyID: KeyID, username: String) {
    (self.accessToken, self.keyID, self.username) = (accessToken, keyID, username)
  }

  /// Unwraps a handle; nil for what this authenticator has not wrapped.
  init?(unwrapping bytes: [UInt8], by key: SharedSecretBox, of aaid: AAID) {
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

  /// The handle as it leaves the authenticator.
  ///
  /// - Precondition: The token and the key id have 32 bytes, and the user name fits.
  func wrapped(by key: SharedSecretBox, of aaid: AAID) throws(VaultFailure) -> [UInt8] {
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
