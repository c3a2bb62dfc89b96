package import SignetCrypto
package import SignetStorage

/// The key under which a server encrypts secrets at rest.
///
/// Each secret is bound to its purpose and owner: in another row, it does not decrypt.
package final class MasterKey: Sendable {
  /// The length of a key: 32 bytes (256 bits).
  package static let byteCount = 32

  private let secret: SharedSecretBox
  /// HMAC under the HKDF extract of the key, with which each derivation begins.
  private let extracted: HMACKey

  /// Creates a master key and takes ownership of `secret`.
  ///
  /// - Precondition: `secret` has 32 bytes.
  package init(_ secret: consuming SecretBytes) {
    precondition(secret.byteCount == Self.byteCount, "a master key has 32 bytes")
    extracted = HMACKey(HKDF.extract(salt: [], inputKey: secret, .sha256), .sha256)
    self.secret = SharedSecretBox(secret)
  }

  /// The purpose of an encrypted secret.
  package enum Purpose: Sendable {
    /// The invite key of an activation.
    case inviteKey(activation: ID<ActivationRecord>)
    /// The one-time password secret of a credential.
    case otpSecret(credential: ID<CredentialRecord>)
    /// The number that a user must type.
    case matchingNumber(transaction: TransactionID)
    /// A signing key of the server.
    case signingKey(id: String)
    /// The address of a container's push target.
    case pushTarget(id: PushTargetID)
    /// The notice that informs a client of a request's end.
    case backchannelNotice(transaction: TransactionID)
    /// The address to which a device's UAF tokens are sent.
    case uafTarget(id: ID<UAFTargetRecord>)
    /// The UAF token that waits for a device, in the form for the device.
    case uafPayload(session: ID<UAFOperationRecord>)
    /// The secret that a server and an authenticator app share.
    case pushAuthSecret(mechanism: ID<PushAuthMechanismRecord>)
    /// The address of an authenticator app's pushes.
    case pushAuthDevice(mechanism: ID<PushAuthMechanismRecord>)
    /// The number that a user must select in an authenticator app.
    case pushAuthNumber(message: ID<PushAuthMessageRecord>)
    /// A message to an authenticator app, in the form for the app.
    case pushAuthToken(message: ID<PushAuthMessageRecord>)

    var label: [UInt8] {
      switch self {
      case .inviteKey(let activation): Array("signet invite key \(activation)".utf8)
      case .otpSecret(let credential): Array("signet otp secret \(credential)".utf8)
      case .matchingNumber(let transaction): Array("signet matching number \(transaction)".utf8)
      case .signingKey(let id): Array("signet signing key \(id)".utf8)
      case .pushTarget(let id): Array("signet push target \(id)".utf8)
      case .backchannelNotice(let transaction): Array("signet backchannel notice \(transaction)".utf8)
      case .uafTarget(let id): Array("signet uaf target \(id)".utf8)
      case .uafPayload(let session): Array("signet uaf payload \(session)".utf8)
      case .pushAuthSecret(let mechanism): Array("signet pushauth secret \(mechanism)".utf8)
      case .pushAuthDevice(let mechanism): Array("signet pushauth device \(mechanism)".utf8)
      case .pushAuthNumber(let message): Array("signet pushauth number \(message)".utf8)
      case .pushAuthToken(let message): Array("signet pushauth token \(message)".utf8)
      }
    }
  }

  /// Encrypts a secret with AES-256-GCM under a key for its purpose, with a random nonce.
  ///
  /// - Returns: nonce ‖ ciphertext ‖ tag, 28 bytes more than the secret.
  package func seal(_ plaintext: borrowing SecretBytes, for purpose: Purpose) throws(CryptoFailure) -> [UInt8]
  {
    let key = key(for: purpose)
    return try AESGCM.sealCombined(plaintext, key: key, additionalData: purpose.label)
  }

  /// Returns the length of an encrypted secret's plain text, in bytes.
  static func byteCount(ofSealed sealed: [UInt8]) -> Int {
    max(0, sealed.count - AESGCM.nonceByteCount - AESGCM.tagByteCount)
  }

  /// Decrypts a secret.
  ///
  /// - Throws: `CryptoFailure` if ``seal(_:for:)`` did not create the bytes for this purpose and owner.
  package func open(_ sealed: [UInt8], for purpose: Purpose) throws(CryptoFailure) -> SecretBytes {
    let key = key(for: purpose)
    return try AESGCM.openCombined(sealed, key: key, additionalData: purpose.label)
  }

  /// Returns a key for one purpose and owner, so that no key encrypts enough secrets for two random nonces to collide.
  private func key(for purpose: Purpose) -> SecretBytes {
    // HKDF-Expand to one digest is one HMAC (RFC 5869 section 2.3).
    extracted.secretAuthenticationCode(for: purpose.label + [1])
  }

  /// Returns the key of the stored digests of end users' addresses.
  func clientKey() -> HMACKey { authenticationKey(for: "signet client address") }

  /// Returns the stored digest of a user code, 32 bytes.
  ///
  /// The code is short, so only the key prevents guessing it.
  func digest(ofUserCode code: String, of user: UserID) -> [UInt8] {
    authenticationKey(for: "signet user code").authenticationCode(for: Array("\(user)\u{0}\(code)".utf8))
  }

  /// Returns the bytes that the confirmation of a new container must contain, 32 bytes.
  ///
  /// The receipt contains them, encrypted to the container's encryption key. The server stores nothing; a repeated *confirm*
  /// is compared with the same bytes.
  func confirmation(of container: ContainerID) -> [UInt8] {
    authenticationKey(for: "signet container confirmation").authenticationCode(
      for: Array(container.text.utf8))
  }

  /// Returns the key of the MAC in `serverData` of UAF requests.
  func serverDataKey() -> HMACKey { authenticationKey(for: "signet uaf server data") }

  /// Returns the key of the MACs that protect security-relevant rows.
  package func rowKey() -> HMACKey { authenticationKey(for: "signet row codes") }

  private func authenticationKey(for purpose: String) -> HMACKey {
    secret.withSecret {
      HMACKey(
        HKDF.derive(inputKey: $0, salt: [], info: Array(purpose.utf8), byteCount: 32, .sha256), .sha256)
    }
  }

  /// Returns the salt of a user's invites: 16 bytes that never change, even if there is no invite or no such user.
  ///
  /// A salt for each invite would reveal to any caller when one was created. It is not needed: an invite has 80 random bits,
  /// and the salt separates users and servers.
  func inviteSalt(for user: UserID) -> [UInt8] {
    secret.withSecret {
      HKDF.derive(
        inputKey: $0, salt: [], info: Array("signet invite salt \(user)".utf8), byteCount: 16, .sha256
      ).insecureCopy()  // a salt is public: any caller of *start* receives it
    }
  }
}
