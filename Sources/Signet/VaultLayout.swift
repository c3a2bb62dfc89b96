package import SignetCrypto
import SignetPolicy
import SignetProtocol
package import SignetVault

/// The layout of a container's secrets in the vault.
package enum VaultLayout {
  /// The domain that the device opens alone, with the keys for requests to the server.
  static let device = "device"
  /// The domain that the container's protection policy opens, with the keys that act for the user.
  ///
  /// A key with a separate protection is in a domain of its name. If that protection is the device alone, it is in the
  /// domain of the device.
  static let user = "user"

  package static let sessionKey = "session-key"
  package static let encryptionKey = "encryption-key"
  package static let signingKey = "signing-key"
  static let otpSecret = "otp-secret"
  /// The root key of app data, created when the first session is unlocked.
  static let appDataKey = "app-data-key"

  /// Returns the domain of a key, or of the container itself.
  static func domain(of key: Key.Usage?, in profile: ContainerProfile) -> String {
    guard let key else { return user }
    switch profile.keys[key.name] {
    case nil: return key == .sessionTransport ? device : user
    case .device: return device
    default: return key.name.rawValue
    }
  }

  /// Returns the domains of a new container.
  ///
  /// - Parameters:
  ///   - keys: Its private keys.
  ///   - otpSecret: The secret of its one-time codes.
  ///   - profile: The server's profile.
  ///   - chosen: The protection of each domain except the device's.
  ///   - appDataKey: The root key of app data, if it exists already.
  /// - Returns: The domains with their records; an empty domain of the device is omitted.
  static func domains(
    _ keys: PrivateContainerKeys, otpSecret: SharedSecretBox, _ profile: ContainerProfile,
    _ chosen: [Key.Usage?: ChosenProtection], appDataKey: SharedSecretBox? = nil
  ) -> [DomainDraft] {
    var domains = [DomainDraft(name: device, protection: .device, records: [])]
    for key in profile.protected where domain(of: key, in: profile) != device {
      guard let chosen = chosen[key] else { preconditionFailure("a key was left without its protection") }
      domains.append(
        DomainDraft(
          name: domain(of: key, in: profile), protection: chosen.protection, records: [],
          passwordTimes: chosen.passwordTimes))
    }
    let secrets: [(Key.Usage?, String, SharedSecretBox?, SecretForm)] = [
      (.sessionTransport, sessionKey, keys.session.record, keys.session.form),
      (.sessionTransport, encryptionKey, SharedSecretBox(keys.encryption.rawRepresentation), .p256PrivateKey),
      (.transactionSigning, signingKey, keys.signing.record, keys.signing.form),
      (.oneTimePassword, Self.otpSecret, otpSecret, .bytes), (nil, Self.appDataKey, appDataKey, .bytes),
    ]
    for (key, name, secret, form) in secrets {
      guard let secret, let index = domains.firstIndex(where: { $0.name == domain(of: key, in: profile) })
      else { continue }
      domains[index].records.append(RecordDraft(name: name, secret: secret, form: form))
    }
    return domains.filter { $0.name != device || !$0.records.isEmpty }
  }
}

extension ContainerSigningKey {
  /// The form of its record, for a domain under a silent lock policy.
  fileprivate var form: SecretForm { origin == .software ? .p256PrivateKey : .bytes }
}

/// The protection of a new domain, with the times of a kept password.
struct ChosenProtection: Sendable {
  var protection: DomainDraft.Protection
  var passwordTimes: PasswordTimes?
}

extension UnlockedDomain {
  /// Reads the P-256 signing key in a record of a vault.
  package borrowing func signingKey(
    _ name: String, in vault: Vault
  ) throws(SignetError) -> ContainerSigningKey {
    try recorded {
      try withRecord(name) { try ContainerSigningKey(record: SecretBytes(copying: $0), in: vault) }
    }
  }

  /// Reads the P-256 key agreement key in a record.
  package borrowing func agreementKey(_ name: String) throws(SignetError) -> P256.KeyAgreement.PrivateKey {
    try recorded {
      try withRecord(name) { try P256.KeyAgreement.PrivateKey(rawRepresentation: SecretBytes(copying: $0)) }
    }
  }

  /// Reads the secret in a record.
  borrowing func secret(_ name: String) throws(SignetError) -> SecretBytes {
    try recorded { try withRecord(name) { SecretBytes(copying: $0) } }
  }
}

/// Converts a failure to read a record.
private func recorded<Value: ~Copyable>(_ body: () throws -> Value) throws(SignetError) -> Value {
  do { return try body() } catch {
    switch error {
    case let failure as VaultFailure: throw SignetError(failure)
    case let failure as CryptoFailure: throw .vault(.crypto(failure))
    default: throw .vault(.damaged)
    }
  }
}
