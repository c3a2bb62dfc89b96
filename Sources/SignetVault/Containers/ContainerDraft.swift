package import SignetCrypto
package import SignetPolicy

/// A container to be stored, with its secrets.
package struct ContainerDraft: Sendable {
  package var attributes: ContainerAttributes
  /// The creation time, in milliseconds since 1970-01-01T00:00:00Z.
  package var created: Int64
  /// Its protection domains, at least one; each gets a random master key.
  package var domains: [DomainDraft]

  package init(attributes: ContainerAttributes, created: Int64, domains: [DomainDraft]) {
    self.attributes = attributes
    self.created = created
    self.domains = domains
  }
}

/// A protection domain to be stored: records that are opened together.
package struct DomainDraft: Sendable {
  /// The means of opening the domain, in addition to the device's hardware.
  @nonexhaustive package enum Protection: Sendable {
    case device
    /// The device and a password: UTF-8 as typed. ``OpaqueString`` prepares it.
    case password(SharedSecretBox, LockPolicy)
    /// The device, after a biometric match of this set, or of any enrolled set if it is `nil`. If `orPasscode` is true, the
    /// device's passcode opens it too.
    case biometrics(EnrolledSet?, orPasscode: Bool)
    /// The device, after its user has entered the passcode of the operating system.
    case devicePasscode
  }

  /// The name in the container, 1 to 64 visible ASCII characters.
  package var name: String
  package var protection: Protection
  /// The records, with distinct names.
  package var records: [RecordDraft]
  /// The time at which an existing password was set; `nil` for a new password.
  package var passwordTimes: PasswordTimes?

  package init(
    name: String, protection: Protection, records: [RecordDraft], passwordTimes: PasswordTimes? = nil
  ) {
    self.name = name
    self.protection = protection
    self.records = records
    self.passwordTimes = passwordTimes
  }
}

/// A secret to be stored.
package struct RecordDraft: Sendable {
  /// The name in the domain, 1 to 64 visible ASCII characters.
  package var name: String
  package var secret: SharedSecretBox
  /// The form of the bytes, which matters only in a silent domain.
  package var form: SecretForm

  package init(name: String, secret: SharedSecretBox, form: SecretForm = .bytes) {
    self.name = name
    self.secret = secret
    self.form = form
  }
}
