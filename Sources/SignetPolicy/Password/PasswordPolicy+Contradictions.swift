extension PasswordPolicy {
  /// Refuses single values that no policy may have.
  func checkBounds() throws(PolicyFailure) {
    try Self.check(minimumLength, RuleName.minimumLength, in: Self.allowedLengths)
    try Self.check(maximumLength, RuleName.maximumLength, in: Self.allowedLengths)
    if let maximumRepeats {
      try Self.check(maximumRepeats, RuleName.maximumRepeats, in: Self.allowedLengths)
    }
    try Self.check(maximumHistory, RuleName.maximumHistory, in: Self.allowedHistory)
    try Self.check(age.minimumDays, RuleName.minimumAge, in: PasswordAge.allowedDays)
    try Self.check(age.maximumDays, RuleName.maximumAge, in: PasswordAge.allowedDays)
    try Self.check(cache.timeout, RuleName.cacheTimeout, in: PasswordCache.allowedTimeouts)
    let counts = 0...Self.allowedLengths.upperBound
    for kind in CharacterClass.allCases {
      try Self.check(minimum(of: kind), kind.minimumRule, in: counts)
      if let maximum = count(of: kind).maximum { try Self.check(maximum, kind.maximumRule, in: counts) }
    }
  }

  /// Refuses rules that no password satisfies together, and names them.
  ///
  /// Letters without case exist, so letters may outnumber upper and lower case together; but every code
  /// point is a letter, a digit or neither, so these three must fill the length and fit into it.
  func checkContradictions() throws(PolicyFailure) {
    try Self.check(
      minimumLength <= maximumLength, or: [RuleName.minimumLength, RuleName.maximumLength])
    for kind in CharacterClass.allCases {
      let minimum = minimum(of: kind)
      try Self.check(minimum <= maximumLength, or: [kind.minimumRule, RuleName.maximumLength])
      try Self.check(minimum <= maximum(of: kind), or: [kind.minimumRule, kind.maximumRule])
    }

    let cased: [CharacterClass] = [.uppercase, .lowercase]
    let casedMinimum = cased.reduce(0) { $0 + minimum(of: $1) }
    let casedRules = cased.filter { minimum(of: $0) > 0 }.map(\.minimumRule)
    try Self.check(casedMinimum <= maximum(of: .letter), or: casedRules + [CharacterClass.letter.maximumRule])

    let others: [CharacterClass] = [.digit, .nonAlphanumeric]
    let needsCase = casedMinimum > minimum(of: .letter)
    let letterMinimum = max(casedMinimum, minimum(of: .letter))
    let letterRules = needsCase ? casedRules : [.letter].filter { minimum(of: $0) > 0 }.map(\.minimumRule)
    let otherRules = others.filter { minimum(of: $0) > 0 }.map(\.minimumRule)
    try Self.check(
      others.reduce(letterMinimum) { $0 + minimum(of: $1) } <= maximumLength,
      or: letterRules + otherRules + [RuleName.maximumLength])

    let whole: [CharacterClass] = [.letter, .digit, .nonAlphanumeric]
    try Self.check(
      whole.reduce(0) { $0 + maximum(of: $1) } >= minimumLength,
      or: whole.map(\.maximumRule) + [RuleName.minimumLength])
    try Self.check(
      age.maximumDays == 0 || age.minimumDays < age.maximumDays,
      or: [RuleName.minimumAge, RuleName.maximumAge])
  }

  private static func check(
    _ value: Int, _ rule: String, in allowed: ClosedRange<Int>
  ) throws(PolicyFailure) {
    guard allowed.contains(value) else {
      throw .outOfRange(rule: rule, value: value, allowed: allowed)
    }
  }

  private static func check(_ holds: Bool, or rules: [String]) throws(PolicyFailure) {
    guard holds else { throw .contradiction(rules: rules) }
  }
}
