public import SignetCrypto
public import SignetPolicy

/// A rejection of a new PIN or password by the app's own rule.
public struct UAFCredentialRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message for the user.
  public let message: String
  /// Details for the developer.
  public let cause: String?

  /// Creates a rejection.
  ///
  /// - Parameters:
  ///   - message: The message for the user.
  ///   - cause: Details for the developer.
  public init(_ message: String, cause: String? = nil) { (self.message, self.cause) = (message, cause) }

  /// The message for the user.
  public var description: String { message }
}

/// An app's own rule for a new PIN or password; it throws to reject one.
public typealias UAFCredentialRule =
  @Sendable (_ credential: SharedSecretBox) async throws(UAFCredentialRefusal) -> Void

/// The rules for a new PIN: ASCII digits, a range of lengths and the app's own rules.
public struct UAFPINPolicy: Sendable {
  /// The minimum number of digits.
  public let minimumLength: Int
  /// The maximum number of digits.
  public let maximumLength: Int
  let enrolmentRule: UAFCredentialRule
  let changeRule: UAFCredentialRule

  /// Creates the rules; the default is exactly six digits.
  ///
  /// - Parameters:
  ///   - minimumLength: The minimum number of digits, 1 or more.
  ///   - maximumLength: The maximum number of digits, from `minimumLength` to 64.
  ///   - enrolmentRule: A further rule for a first PIN.
  ///   - changeRule: A further rule for a PIN that replaces another.
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

  /// Indicates whether a PIN consists of ASCII digits and has an allowed length.
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

/// The rules for a new password; by default those for imported accounts (``Accounts/passwordPolicy``).
public struct UAFPasswordPolicy: Sendable {
  /// `nil` for ``standard(checks:)`` with the checks of the device.
  let enrolmentRule: UAFCredentialRule?
  let changeRule: UAFCredentialRule?

  /// Creates the rules.
  ///
  /// - Parameters:
  ///   - enrolmentRule: The rule for a first password; `nil` for ``standard(checks:)`` with the checks of the device.
  ///   - changeRule: The rule for a password that replaces another; `nil` likewise.
  public init(enrolmentRule: UAFCredentialRule? = nil, changeRule: UAFCredentialRule? = nil) {
    self.enrolmentRule = enrolmentRule
    self.changeRule = changeRule
  }

  /// Rejects a password that ``Accounts/passwordPolicy`` does not allow: under 8 characters, or a word of the dictionary.
  ///
  /// - Parameter checks: The dictionary, without which every password is rejected, and the app's own rules.
  /// - Returns: A rule that throws ``UAFCredentialRefusal`` with the rules that a password breaks, or with the reason why the
  ///   dictionary cannot be read.
  public static func standard(checks: PasswordChecks) -> UAFCredentialRule {
    { (password) async throws(UAFCredentialRefusal) in
      let violations: [PasswordViolation]
      do throws(SignetError) {
        violations = try await Accounts.passwordPolicy.violations(
          of: password, purpose: .enrolment, checks: checks)
      } catch { throw UAFCredentialRefusal(error.description) }
      guard violations.isEmpty else {
        throw UAFCredentialRefusal(violations.map(\.description).joined(separator: "; "))
      }
    }
  }
}
