extension PasswordRules {
  /// All reasons why the rules are no policy: numbers out of range or, if there are none, contradictions.
  var failures: [PolicyFailure] {
    let outOfRange = Self.checkedRows.outOfRange(self)
    return outOfRange.isEmpty ? contradictions : outOfRange
  }

  /// The minimum number of characters that satisfies the minimum of every class.
  private var neededCharacters: Int {
    max(uppercase.minimum + lowercase.minimum, letters.minimum) + digits.minimum + nonAlphanumerics.minimum
  }

  /// The length of the shortest password, in code points; meaningless if a number is out of range.
  var shortestLength: Int { max(minimumLength, neededCharacters) }

  /// The rules that no password satisfies together.
  ///
  /// Letters without case exist, so there can be more letters than upper-case and lower-case ones together. Every code point
  /// is a letter, a digit or neither, so these three classes must reach the minimum length and fit into the maximum. Sums
  /// are checked only if no pair of rules contradicts.
  private var contradictions: [PolicyFailure] {
    var found = pairs
    if found.isEmpty { found = sums }
    if age.maximumDays > 0, age.minimumDays >= age.maximumDays { found.append(.clash(.minAge, .maxAge)) }
    if checksDictionary, maximumLength < PasswordPolicy.dictionaryLength {
      found.append(.clash(.dictionary, .maxLength))
    }
    return found
  }

  private var pairs: [PolicyFailure] {
    var found: [PolicyFailure] = []
    if minimumLength > maximumLength { found.append(.clash(.minLength, .maxLength)) }
    for kind in CharacterClass.allCases {
      let minimum = minimum(of: kind)
      if minimum > maximumLength { found.append(.clash(.minimum(kind), .maxLength)) }
      if let maximum = self[kind].maximum, minimum > maximum {
        found.append(.clash(.minimum(kind), .maximum(kind)))
      }
    }
    for kind in [CharacterClass.uppercase, .lowercase] {
      if let maximum = letters.maximum, minimum(of: kind) > maximum {
        found.append(.clash(.minimum(kind), .maximum(.letter)))
      }
    }
    return found
  }

  private var sums: [PolicyFailure] {
    var found: [PolicyFailure] = []
    let cased = uppercase.minimum + lowercase.minimum
    if cased > maximum(of: .letter) {
      let isBoundByLetters = letters.maximum.map { $0 < maximumLength } ?? false
      found.append(
        .clash(.minimum(.uppercase), .minimum(.lowercase), isBoundByLetters ? .maximum(.letter) : .maxLength))
    }

    let letterKinds: [CharacterClass] = cased > letters.minimum ? [.uppercase, .lowercase] : [.letter]
    let others: [CharacterClass] = [.digit, .nonAlphanumeric]
    if found.isEmpty, neededCharacters > maximumLength {
      let atFault = (letterKinds + others).filter { minimum(of: $0) > 0 }
      found.append(.clash(atFault.map(PolicyRule.minimum) + [.maxLength]))
    }

    let whole: [CharacterClass] = [.letter, .digit, .nonAlphanumeric]
    if whole.reduce(0, { $0 + maximum(of: $1) }) < minimumLength {
      found.append(.clash(whole.map(PolicyRule.maximum) + [.minLength]))
    }
    return found
  }
}

extension PolicyFailure {
  fileprivate static func clash(_ rules: PolicyRule...) -> PolicyFailure { clash(rules) }

  fileprivate static func clash(_ rules: [PolicyRule]) -> PolicyFailure {
    .contradiction(rules: rules.map(\.name))
  }
}
