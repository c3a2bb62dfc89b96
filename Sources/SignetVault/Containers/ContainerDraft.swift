package import SignetCrypto
package import SignetPolicy

/// A container that is to be stored, with its secrets.
package struct ContainerDraft: Sendable {
  /// What is known about it.
  package var attributes: ContainerAttributes
  /// When it was made, in milliseconds since 1970-01-01T00:00:00Z.
  package var created: Int64
  /// Its protection domains, at least one; each gets a random master key.
  package var domains: [DomainDraft]

  /// Names all parts.
  package init(attributes: ContainerAttributes, created: Int64, domains: [DomainDraft]) {
    self.attributes = attributes
    self.created = created
    self.domains = domains
  }
}

/// A protection domain that is to be stored: records that are opened together.
package struct DomainDraft: Sendable {
  /// What opens the domain, beside the hardware of the device.
  @nonexhaustive package enum Protection: Sendable {
    /// The device alone.
    case device
    /// The device together with a password: UTF-8 as typed. It is prepared as ``OpaqueString`` says.
    case password(SharedSecretBox, LockPolicy)
    /// The device, after a biometric match of this set, or of whatever is enrolled then if it is `nil`; and after the passcode
    /// of the device too, if that is said.
    case biometrics(EnrolledSet?, orPasscode: Bool)
    /// The device, after its user has entered the passcode of the operating system.
    case devicePasscode
  }

  /// Its name in the container, 1 to 64 visible ASCII characters.
  package var name: String
  /// What opens it.
  package var protection: Protection
  /// Its records; no two have one name.
  package var records: [RecordDraft]
  /// When its password was set, where it was set before; `nil` for one that is new.
  package var passwordTimes: PasswordTimes?

  /// Names all parts.
  package init(
    name: String, protection: Protection, records: [RecordDraft], passwordTimes: PasswordTimes? = nil
  ) {
    self.name = name
    self.protection = protection
    self.records = records
    self.passwordTimes = passwordTimes
  }
}

/// A secret that is to be stored.
package struct RecordDraft: Sendable {
  /// Its name in the domain, 1 to 64 visible ASCII characters.
  package var name: String
  /// The bytes.
  package var secret: SharedSecretBox
  /// What the bytes are; it matters in a silent domain only.
  package var form: SecretForm

  /// Names all parts.
  package init(name: String, secret: SharedSecretBox, form: SecretForm = .bytes) {
    self.name = name
    self.secret = secret
    self.form = form
  }
}
