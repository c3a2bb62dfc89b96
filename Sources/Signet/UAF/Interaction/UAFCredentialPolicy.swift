public import SignetCrypto

/// Why an app's own rule does not take a new PIN or password.
public struct UAFCredentialRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the person may read.
  public let message: String
  /// More for the developer.
  public let cause: String?

  /// Refuses.
  ///
  /// - Parameters:
  ///   - message: What the person may read.
  ///   - cause: More for the developer.
  public init(_ message: String, cause: String? = nil) { (self.message, self.cause) = (message, cause) }

  /// What the person may read.
  public var description: String { message }
}

/// An app's own rule for a new PIN or password; it throws to refuse one.
public typealias UAFCredentialRule =
  @Sendable (_ credential: SharedSecretBox) async throws(UAFCredentialRefusal) -> Void

/// What a new PIN has to be: digits, so many of them, and whatever else the app wants.
public struct UAFPINPolicy: Sendable {
  /// The fewest digits.
  public let minimumLength: Int
  /// The most digits.
  public let maximumLength: Int
  let enrolmentRule: UAFCredentialRule
  let changeRule: UAFCredentialRule

  /// Sets the rules; six digits unless told otherwise.
  ///
  /// - Parameters:
  ///   - minimumLength: The fewest digits, 1 or more.
  ///   - maximumLength: The most digits, at most 64 and not fewer than the fewest.
  ///   - enrolmentRule: What else is asked of a first PIN.
  ///   - changeRule: What else is asked of a PIN that takes the place of another.
  public init(
    minimumLength: Int = 6, maximumLength: Int = 6, enrolmentRule: @escaping UAFCredentialRule = { _ in },
    changeRule: @escaping UAFCredentialRule = { _ in }
  ) {
    precondition(
      minimumLength >= 1 && maximumLength >= minimumLength && maximumLength <= 64,
      "a PIN has 1 to 64 digits, and at most as many as at least")
    (self.minimumLength, self.maximumLength) = (minimumLength, maximumLength)
    (self.enrolmentRule, self.changeRule) = (enrolmentRule, changeRule)
  }

  /// Whether a PIN has the form that is wanted.
  package func hasForm(_ pin: SharedSecretBox) -> Bool {
    pin.withSecret { secret in
      secret.withUInt8Span { bytes in
        guard (minimumLength...maximumLength).contains(bytes.count) else { return false }
        for index in bytes.indices where !(0x30...0x39).contains(bytes[index]) { return false }
        return true
      }
    }
  }
}

/// What a new password has to be: what the app says, which alone knows what is strong enough for it.
public struct UAFPasswordPolicy: Sendable {
  let enrolmentRule: UAFCredentialRule
  let changeRule: UAFCredentialRule

  /// Sets the rules.
  ///
  /// - Parameters:
  ///   - enrolmentRule: What is asked of a first password.
  ///   - changeRule: What is asked of a password that takes the place of another.
  public init(
    enrolmentRule: @escaping UAFCredentialRule = { _ in }, changeRule: @escaping UAFCredentialRule = { _ in }
  ) {
    (self.enrolmentRule, self.changeRule) = (enrolmentRule, changeRule)
  }
}
