public import SignetCrypto
public import SignetPolicy

extension PasswordPolicy {
  /// Every rule that a new password breaks; as
  /// ``SignetPolicy/PasswordPolicy/violations(ofUTF8:purpose:isReused:checks:)``, for a password that is held securely.
  ///
  /// - Parameters:
  ///   - password: UTF-8 as typed. A copy lives for the check and is wiped after it.
  ///   - purpose: What it is for.
  ///   - isReused: Whether it is among the latest passwords that must not be used again.
  ///   - checks: The dictionary and the app's own rules.
  /// - Returns: The broken rules, in a fixed order.
  /// - Throws: `PasswordDictionaryFailure` where the policy asks for a dictionary that cannot be read.
  public func violations(
    of password: SharedSecretBox, purpose: PasswordPurpose, isReused: Bool = false,
    checks: PasswordChecks = .standard
  ) async throws(PasswordDictionaryFailure) -> [PasswordViolation] {
    var bytes = password.withSecret { $0.insecureCopy() }
    defer { bytes.wipe() }
    return try await violations(ofUTF8: bytes, purpose: purpose, isReused: isReused, checks: checks)
  }
}
