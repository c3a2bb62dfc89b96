import SignetCrypto
import SignetPolicy
import SignetVault
import SignetWire

/// Where a container's secrets lie in the vault.
enum VaultLayout {
  /// The domain that the device alone opens: what talks to the server.
  static let device = "device"
  /// The domain that the container's protection policy opens: what acts for the user.
  ///
  /// A key with a protection of its own is in a domain of its name; where that is the device, in that of the device.
  static let user = "user"

  static let sessionKey = "session-key"
  static let encryptionKey = "encryption-key"
  static let signingKey = "signing-key"
  static let otpSecret = "otp-secret"
  /// What the keys of app data come from; made when the first session is unlocked.
  static let appDataKey = "app-data-key"

  /// The domain of a key, or of the container itself.
  static func domain(of key: Key.Usage?, in profile: ContainerProfile) -> String {
    guard let key else { return user }
    switch profile.keys[key.name] {
    case nil: return key == .sessionTransport ? device : user
    case .device: return device
    default: return key.name.rawValue
    }
  }

  /// The domains of a new container.
  ///
  /// - Parameters:
  ///   - keys: Its private keys.
  ///   - otpSecret: What its codes are made with.
  ///   - profile: What the server wants.
  ///   - chosen: What opens each domain but the device's.
  ///   - appDataKey: What the keys of app data come from, if that is known already.
  /// - Returns: The domains with their records; none that the device opens and that is empty.
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
  /// What its record is, to a silent domain.
  fileprivate var form: SecretForm { origin == .software ? .p256PrivateKey : .bytes }
}

/// What opens a domain that is made, and since when its password is in use, if it is kept.
struct ChosenProtection: Sendable {
  var protection: DomainDraft.Protection
  var passwordTimes: PasswordTimes?
}

extension UnlockedDomain {
  /// The P-256 key in a record of a vault.
  borrowing func signingKey(_ name: String, in vault: Vault) throws(SignetFailure) -> DeviceSigningKey {
    DeviceSigningKey(key: try recorded { try signingKey(name) }, vault: vault)
  }

  /// The P-256 key in a record.
  borrowing func agreementKey(_ name: String) throws(SignetFailure) -> P256.KeyAgreement.PrivateKey {
    try recorded {
      try withRecord(name) { try P256.KeyAgreement.PrivateKey(rawRepresentation: SecretBytes(copying: $0)) }
    }
  }

  /// The secret in a record.
  borrowing func secret(_ name: String) throws(SignetFailure) -> SecretBytes {
    try recorded { try withRecord(name) { SecretBytes(copying: $0) } }
  }
}

/// Gives what reading a record throws our type.
private func recorded<Value: ~Copyable>(_ body: () throws -> Value) throws(SignetFailure) -> Value {
  do { return try body() } catch {
    switch error {
    case let failure as VaultFailure: throw SignetFailure(failure)
    case let failure as CryptoFailure: throw .vault(.crypto(failure))
    default: throw .vault(.damaged)
    }
  }
}
