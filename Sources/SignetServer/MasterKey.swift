public import SignetCrypto
public import SignetStorage

/// The key under which a server keeps secrets at rest.
///
/// Each secret is bound to its purpose and owner: moved to another row, it does not open.
public final class MasterKey: Sendable {
  /// The bytes of a key: 256 bits.
  public static let byteCount = 32

  private let secret: SharedSecretBox
  /// HMAC under what HKDF extracts from the key, which each derivation begins with.
  private let extracted: HMACKey

  /// Takes the key over.
  ///
  /// - Precondition: `secret` has 32 bytes.
  public init(_ secret: consuming SecretBytes) {
    precondition(secret.byteCount == Self.byteCount, "a master key has 32 bytes")
    extracted = HMACKey(HKDF.extract(salt: [], inputKey: secret, .sha256), .sha256)
    self.secret = SharedSecretBox(secret)
  }

  /// What a sealed secret is for.
  public enum Purpose: Sendable {
    /// The invite key of an activation.
    case inviteKey(activation: ID<ActivationRecord>)
    /// The one-time password secret of a credential.
    case otpSecret(credential: ID<CredentialRecord>)
    /// The number that a user has to type.
    case matchingNumber(transaction: TransactionID)
    /// A key that the server signs with.
    case signingKey(id: String)
    /// Where pushes for a container go.
    case pushTarget(id: PushTargetID)
    /// What a client is told with how a request of its ended.
    case backchannelNotice(transaction: TransactionID)
    /// Where UAF tokens for a device go.
    case uafTarget(id: ID<UAFTargetRecord>)
    /// The UAF token that waits for a device, as the device gets it.
    case uafPayload(session: ID<UAFOperationRecord>)
    /// The secret that a server and an authenticator app share.
    case pushAuthSecret(mechanism: ID<PushAuthMechanismRecord>)
    /// Where pushes for an authenticator app go.
    case pushAuthDevice(mechanism: ID<PushAuthMechanismRecord>)
    /// The number that a user has to type into an authenticator app.
    case pushAuthNumber(message: ID<PushAuthMessageRecord>)
    /// A message to an authenticator app, as the app gets it.
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

  /// Encrypts a secret: AES-256-GCM under a key of its purpose, with a random nonce.
  ///
  /// - Returns: nonce ‖ ciphertext ‖ tag, 28 bytes more than the secret.
  public func seal(_ plaintext: borrowing SecretBytes, for purpose: Purpose) throws(CryptoFailure) -> [UInt8]
  {
    let key = key(for: purpose)
    return try AESGCM.sealCombined(plaintext, key: key, additionalData: purpose.label)
  }

  /// How many bytes the secret has that was sealed.
  static func byteCount(ofSealed sealed: [UInt8]) -> Int {
    max(0, sealed.count - AESGCM.nonceByteCount - AESGCM.tagByteCount)
  }

  /// Decrypts a secret.
  ///
  /// - Throws: `CryptoFailure` when the bytes are not what ``seal(_:for:)`` made for this purpose and owner.
  public func open(_ sealed: [UInt8], for purpose: Purpose) throws(CryptoFailure) -> SecretBytes {
    let key = key(for: purpose)
    return try AESGCM.openCombined(sealed, key: key, additionalData: purpose.label)
  }

  /// A key for each purpose and owner, so that no key ever sees enough random nonces for two to meet.
  private func key(for purpose: Purpose) -> SecretBytes {
    // HKDF-Expand to one digest is one HMAC (RFC 5869 section 2.3).
    extracted.secretAuthenticationCode(for: purpose.label + [1])
  }

  /// The key of what is stored in the place of end users' addresses.
  func clientKey() -> HMACKey { authenticationKey(for: "signet client address") }

  /// What is stored in the place of a user's code, 32 bytes: it is short, so that only a key keeps it from being guessed.
  func digest(ofUserCode code: String, of user: UserID) -> [UInt8] {
    authenticationKey(for: "signet user code").authenticationCode(for: Array("\(user)\u{0}\(code)".utf8))
  }

  /// What the confirmation of a new container has to bring, 32 bytes.
  ///
  /// It is in the receipt, encrypted to the container's encryption key. Nothing of it is stored: a repeated *confirm* is
  /// compared with the same bytes.
  func confirmation(of container: ContainerID) -> [UInt8] {
    authenticationKey(for: "signet container confirmation").authenticationCode(
      for: Array(container.text.utf8))
  }

  /// The key of what the server writes for itself into UAF requests.
  func serverDataKey() -> HMACKey { authenticationKey(for: "signet uaf server data") }

  /// The key of the MACs over rows that decide by themselves.
  package func rowKey() -> HMACKey { authenticationKey(for: "signet row codes") }

  private func authenticationKey(for purpose: String) -> HMACKey {
    secret.withSecret {
      HMACKey(
        HKDF.derive(inputKey: $0, salt: [], info: Array(purpose.utf8), byteCount: 32, .sha256), .sha256)
    }
  }

  /// The salt of a user's invites: 16 bytes that never change, whether or not there is an invite or even the user.
  ///
  /// A salt of each invite's own would tell whoever asks when one was made. None is needed: an invite has 80 random bits,
  /// and the salt keeps different users, and different servers, apart.
  func inviteSalt(for user: UserID) -> [UInt8] {
    secret.withSecret {
      HKDF.derive(
        inputKey: $0, salt: [], info: Array("signet invite salt \(user)".utf8), byteCount: 16, .sha256
      ).insecureCopy()  // a salt is public: it is sent to whoever asks
    }
  }
}
