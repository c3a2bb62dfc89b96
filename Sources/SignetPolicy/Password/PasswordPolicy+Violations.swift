extension PasswordPolicy {
  /// Returns every character rule that a new password breaks, in a fixed order; empty if there is none.
  ///
  /// ``OpaqueString/prepare(utf8:)`` accepts every password that passes here. History, dictionary and the app's own rules
  /// need more than the password: see ``violations(ofUTF8:purpose:isReused:checks:)``.
  ///
  /// - Parameter password: UTF-8. The caller wipes it; ``OpaqueString`` describes intermediate copies.
  /// - Returns: The rules in the order of the JSON form, then the rules of every policy.
  public func violations(ofUTF8 password: [UInt8]) -> [PasswordViolation] {
    guard password.count <= OpaqueString.maximumByteCount else {
      return [.tooLong(maximum: rules.maximumLength)]
    }
    let text: UTF8Span
    do { text = try UTF8Span(validating: password.span) } catch { return [.notUTF8] }
    return violations(of: PasswordTally(text))
  }

  /// Returns every character rule that a new password breaks, in a fixed order; empty if there is none.
  ///
  /// Above ``OpaqueString/maximumByteCount`` bytes only the length is reported; nothing else is checked.
  public func violations(of password: String) -> [PasswordViolation] {
    guard password.utf8.count <= OpaqueString.maximumByteCount else {
      return [.tooLong(maximum: rules.maximumLength)]
    }
    return violations(of: PasswordTally(password.utf8Span))
  }

  private func violations(of tally: PasswordTally) -> [PasswordViolation] {
    var violations: [PasswordViolation] = []
    for limit in limits where limit.isBroken(by: tally) { violations.append(PasswordViolation(limit)) }
    if !tally.isAllowed { violations.append(.disallowedCharacter) }
    return violations
  }
}
