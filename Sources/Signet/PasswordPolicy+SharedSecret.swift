public import SignetCrypto
public import SignetPolicy

extension PasswordPolicy {
  /// Returns every rule that a new password violates; a variant of
  /// ``SignetPolicy/PasswordPolicy/violations(ofUTF8:purpose:isReused:checks:)`` for a securely held password.
  ///
  /// - Parameters:
  ///   - password: UTF-8 as typed. A copy exists during the check and is wiped afterwards.
  ///   - purpose: The purpose of the password.
  ///   - isReused: True if it is among the latest passwords that must not be used again.
  ///   - checks: The dictionary and the app's own rules.
  /// - Returns: The violated rules, in a fixed order.
  /// - Throws: ``SignetError/dictionary(_:)`` if the policy requires a dictionary that cannot be read.
  public func violations(
    of password: SharedSecretBox, purpose: PasswordPurpose, isReused: Bool = false,
    checks: PasswordChecks
  ) async throws(SignetError) -> [PasswordViolation] {
    var bytes = password.withSecret { $0.insecureCopy() }
    defer { bytes.wipe() }
    do throws(PasswordDictionaryFailure) {
      return try await violations(ofUTF8: bytes, purpose: purpose, isReused: isReused, checks: checks)
    } catch { throw .dictionary(error) }
  }
}
