public import SignetCrypto
import SignetPolicy

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

/// What a new password has to be: unless the app says otherwise, what is asked of a password for imported accounts
/// (``Accounts/passwordPolicy``).
public struct UAFPasswordPolicy: Sendable {
  let enrolmentRule: UAFCredentialRule
  let changeRule: UAFCredentialRule

  /// Sets the rules.
  ///
  /// - Parameters:
  ///   - enrolmentRule: What is asked of a first password; ``standard(_:)`` where nothing else is given.
  ///   - changeRule: What is asked of a password that takes the place of another; ``standard(_:)`` where nothing else is given.
  public init(
    enrolmentRule: @escaping UAFCredentialRule = UAFPasswordPolicy.standard,
    changeRule: @escaping UAFCredentialRule = UAFPasswordPolicy.standard
  ) {
    (self.enrolmentRule, self.changeRule) = (enrolmentRule, changeRule)
  }

  /// Refuses what ``Accounts/passwordPolicy`` does not allow: fewer than 8 characters, and words of the system's dictionary.
  ///
  /// - Parameter password: UTF-8 as typed.
  /// - Throws: ``UAFCredentialRefusal`` with the rules that it breaks, or with what keeps the dictionary from being read.
  public static func standard(_ password: SharedSecretBox) async throws(UAFCredentialRefusal) {
    let violations: [PasswordViolation]
    do throws(PasswordDictionaryFailure) {
      violations = try await Accounts.passwordPolicy.violations(of: password, purpose: .enrolment)
    } catch { throw UAFCredentialRefusal(error.description) }
    guard violations.isEmpty else {
      throw UAFCredentialRefusal(violations.map(\.description).joined(separator: "; "))
    }
  }
}
