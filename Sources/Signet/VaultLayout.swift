import SignetCrypto
import SignetPolicy
import SignetVault

/// Where a container's secrets lie in the vault.
enum VaultLayout {
  /// The domain that the device alone opens: what talks to the server.
  static let device = "device"
  /// The domain that the container's protection policy opens: what acts for the user.
  static let user = "user"

  static let sessionKey = "session-key"
  static let encryptionKey = "encryption-key"
  static let signingKey = "signing-key"
  static let otpSecret = "otp-secret"
  /// What the keys of app data come from; made when the first session is unlocked.
  static let appDataKey = "app-data-key"

  /// The domains of a new container.
  static func domains(
    _ keys: PrivateContainerKeys, otpSecret: SharedSecretBox, protection: DomainDraft.Protection,
    appDataKey: SharedSecretBox? = nil, passwordTimes: PasswordTimes? = nil
  ) -> [DomainDraft] {
    let appData = appDataKey.map { [RecordDraft(name: Self.appDataKey, secret: $0)] } ?? []
    return [
      DomainDraft(
        name: device, protection: .device,
        records: [
          RecordDraft(name: sessionKey, secret: keys.session.record),
          RecordDraft(name: encryptionKey, secret: SharedSecretBox(keys.encryption.rawRepresentation)),
        ]),
      DomainDraft(
        name: user, protection: protection,
        records: [
          RecordDraft(
            name: signingKey, secret: keys.signing.record,
            form: keys.signing.origin == .software ? .p256PrivateKey : .bytes),
          RecordDraft(name: Self.otpSecret, secret: otpSecret),
        ] + appData, passwordTimes: passwordTimes),
    ]
  }
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
