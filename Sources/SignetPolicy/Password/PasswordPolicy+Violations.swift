extension PasswordPolicy {
  /// Every rule that a new password breaks, in a fixed order; empty if it may be used.
  ///
  /// Whatever this accepts, ``OpaqueString/prepare(utf8:)`` accepts too.
  ///
  /// - Parameter password: UTF-8. The caller wipes it; copies made on the way are described at
  ///   ``OpaqueString``.
  /// - Returns: The rules in the order of the JSON form, then those that every policy has.
  public func violations(ofUTF8 password: [UInt8]) -> [PasswordViolation] {
    guard password.count <= OpaqueString.maximumByteCount else { return [.tooLong(maximum: maximumLength)] }
    guard let text = String(validating: password, as: UTF8.self) else { return [.notUTF8] }
    return violations(of: text)
  }

  /// Every rule that a new password breaks, in a fixed order; empty if it may be used.
  ///
  /// Above ``OpaqueString/maximumByteCount`` bytes only the length is reported: the rest is not looked at.
  public func violations(of password: String) -> [PasswordViolation] {
    guard password.utf8.count <= OpaqueString.maximumByteCount else {
      return [.tooLong(maximum: maximumLength)]
    }
    let text = OpaqueString.mapped(password)
    var violations: [PasswordViolation] = []
    var counts: [CharacterClass: Int] = [:]
    var length = 0
    var isAllowed = true
    for scalar in text.unicodeScalars {
      length += 1
      if !OpaqueString.allows(scalar) { isAllowed = false }
      for kind in CharacterClass.allCases where kind.contains(scalar) { counts[kind, default: 0] += 1 }
    }
    if length < minimumLength { violations.append(.tooShort(minimum: minimumLength)) }
    if length > maximumLength { violations.append(.tooLong(maximum: maximumLength)) }
    for kind in CharacterClass.allCases {
      let count = counts[kind] ?? 0
      if count < minimum(of: kind) { violations.append(.tooFew(kind, minimum: minimum(of: kind))) }
      // Beyond the maximum length a maximum that nobody set would only repeat that the password is too long.
      if let maximum = self.count(of: kind).maximum, count > maximum {
        violations.append(.tooMany(kind, maximum: maximum))
      }
    }
    if !allowsSequences && Self.hasSequence(text) { violations.append(.sequence) }
    if let maximumRepeats, Self.longestRepeat(text) > maximumRepeats {
      violations.append(.repetition(maximum: maximumRepeats))
    }
    if !isAllowed { violations.append(.disallowedCharacter) }
    return violations
  }

  /// Whether ``sequenceLength`` letters or digits stand in order, up or down, case aside.
  private static func hasSequence(_ text: String) -> Bool {
    var run = 1
    var direction: Int64 = 0
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      let current = folded(scalar)
      let step = Int64(current.value) - Int64(previous?.value ?? 0)
      if let previous, step == 1 || step == -1, bothLettersOrBothDigits(previous, current) {
        run = step == direction ? run + 1 : 2
        direction = step
        if run >= sequenceLength { return true }
      } else {
        run = 1
        direction = 0
      }
      previous = current
    }
    return false
  }

  /// How often the character that follows itself most often does so, counting the first.
  private static func longestRepeat(_ text: String) -> Int {
    var longest = 0
    var run = 0
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      run = scalar == previous ? run + 1 : 1
      longest = max(longest, run)
      previous = scalar
    }
    return longest
  }

  private static func bothLettersOrBothDigits(_ a: Unicode.Scalar, _ b: Unicode.Scalar) -> Bool {
    let letter = CharacterClass.letter
    let digit = CharacterClass.digit
    return letter.contains(a) && letter.contains(b) || digit.contains(a) && digit.contains(b)
  }

  /// The lower-case form where that is one code point, so that `aBc` is a sequence.
  private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    guard let first = lower.first, lower.count == 1 else { return scalar }
    return first
  }
}
