/// A named set of requirements for policies, from a standard or from common practice.
///
/// Standards disagree: older systems require mixed characters, histories and ages, and NIST SP 800-63B-4 forbids requiring
/// them. A policy is therefore measured against each profile, and ``policy`` meets its own. `docs/policies.md` has the
/// table.
public enum PolicyProfile: String, Sendable, Hashable, CaseIterable {
  /// The requirements of older authentication platforms that a policy string can express.
  case legacyCompatible = "legacy-compat"
  /// NIST SP 800-63B-4 at authentication assurance level 2, with the password as an activation secret.
  case nistAAL2 = "nist-aal2"
  /// Commission Delegated Regulation (EU) 2018/389: strong customer authentication.
  case psd2 = "psd2"
  /// A PIN of six digits or more.
  case pin6 = "pin-6"

  /// The names of all profiles, separated by commas.
  public static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// A sample policy that meets the profile.
  public var policy: ProtectionPolicy {
    let (password, lock): (PasswordRules, LockPolicy)
    switch self {
    case .legacyCompatible:
      var rules = PasswordRules(minimumLength: 8, maximumLength: 64)
      rules.uppercase.minimum = 1
      rules.lowercase.minimum = 1
      rules.digits.minimum = 1
      rules.maximumHistory = 5
      rules.age = PasswordAge(minimumDays: 1, maximumDays: 90)
      (password, lock) = (rules, .lock(limit: 5))
    case .nistAAL2:
      var rules = PasswordRules(minimumLength: 8, maximumLength: 256)
      rules.allowsSequences = true
      rules.checksDictionary = true
      (password, lock) = (rules, .lock(limit: 10))
    case .psd2: (password, lock) = (PasswordRules(minimumLength: 6, maximumLength: 64), .fiveAttempts)
    case .pin6:
      var rules = PasswordRules(minimumLength: 6, maximumLength: 10)
      rules.letters = .none
      rules.nonAlphanumerics = .none
      (password, lock) = (rules, .fiveAttempts)
    }
    do { return .password(try PasswordPolicy(password), lock) } catch {
      preconditionFailure("the policy of profile \(rawValue) contradicts itself: \(error)")
    }
  }
}

extension PolicyProfile {
  /// Returns the changes that a policy needs to meet the profile.
  ///
  /// - Parameter reading: A policy without failures; parts that it does not have are not checked.
  /// - Returns: One finding for each requirement that is not met.
  func violations(in reading: PolicyReading) -> [PolicyFinding] {
    var demands = Demands(profile: self)
    switch self {
    case .legacyCompatible: demands.legacy(reading)
    case .nistAAL2: demands.nist(reading)
    case .psd2: demands.psd2(reading)
    case .pin6: demands.pin(reading)
    }
    return demands.findings
  }
}

/// Checks the requirements of a profile and collects those that are not met.
private struct Demands {
  let profile: PolicyProfile
  private(set) var findings: [PolicyFinding] = []

  init(profile: PolicyProfile) { self.profile = profile }

  private mutating func demand(_ isMet: Bool, _ rules: [PolicyRule], _ clause: String, _ message: String) {
    if !isMet { findings.append(PolicyFinding(.profile, rules, message, profile: profile, clause: clause)) }
  }

  mutating func legacy(_ reading: PolicyReading) {
    let types: [String?] = [nil, "device", "password", "biometricOrPassword", "deviceLockOrPassword"]
    demand(types.contains(reading.type), [.type], "clause types", "use a type that policy strings have")
    if let lock = reading.lock {
      var isKnown = lock.consequence == .lockOut
      if case .coolDown = lock { isKnown = false }
      demand(isKnown, [.lockType], "clause locks", "use none, lock, delay or silent, without wiping")
    }
    guard let rules = reading.password else { return }
    let isNumeric = rules.isNumeric
    let isMixed = isNumeric || rules.digits.minimum > 0 && rules.needsLetters
    demand(
      isMixed, [.minimum(.letter), .minimum(.digit)], "clause composition",
      "ask for letters and digits, or for digits only")
    demand(
      rules.maximumHistory > 0, [.maxHistory], "clause history", "remember at least the current password")
    demand(rules.age.maximumDays > 0, [.maxAge], "clause age", "let passwords expire")
    for row in PasswordRules.rows where row.details.isOurs {
      demand(
        row.value(rules) == row.value(.absent), [row.rule], "clause codes",
        "policy strings of other systems have no such rule")
    }
  }

  mutating func nist(_ reading: PolicyReading) {
    let twoFactors: [String?] = [nil, "password", "biometricOrPassword", "biometric"]
    demand(
      twoFactors.contains(reading.type), [.type], "SP 800-63B-4 section 2.2.1",
      "two different factors are needed: the device, and a password or biometric match that this container asks itself"
    )
    if let lock = reading.lock {
      demand(
        lock.limit.map { $0 <= 10 } ?? false, [.lockType, .limit], "SP 800-63B-4 section 3.2.10",
        "no more than ten failed attempts in a row; use a lock or a cool-down, or see that the server has that limit"
      )
    }
    guard let rules = reading.password else { return }
    demand(
      rules.minimumLength >= 6, [.minLength], "SP 800-63B-4 section 3.2.10",
      "an activation secret has at least four characters and should have six; ask for six")
    demand(
      rules.checksDictionary || !rules.allowsSequences, [.dictionary, .allowSequences],
      "SP 800-63B-4 section 3.2.10",
      "values that everybody uses should be refused; turn the dictionary on or sequences off")
    let mixing = CharacterClass.allCases.filter { rules.minimum(of: $0) > 0 }.map(PolicyRule.minimum)
    demand(
      mixing.isEmpty || rules.isNumeric, mixing, "SP 800-63B-4 section 3.1.1.2",
      "mixtures of characters must not be demanded; leave the minima of the classes out")
    demand(
      rules.age.maximumDays == 0, [.maxAge], "SP 800-63B-4 section 3.1.1.2",
      "passwords must not expire without evidence of compromise; set the maximum age to 0")
  }

  mutating func psd2(_ reading: PolicyReading) {
    demand(
      reading.type != "device" && reading.type != "deviceLockOrPassword", [.type],
      "Regulation (EU) 2018/389 Article 4(1)",
      "two elements are needed: the device is one; ask for a password or a biometric match as well")
    if let lock = reading.lock {
      demand(
        lock.blocks(within: 5), [.lockType, .limit], "Regulation (EU) 2018/389 Article 4(3)(b)",
        "at most five failed attempts in a row before a block, temporary or permanent; use a lock, cool-down or delay"
      )
    }
    guard let cache = reading.password?.cache else { return }
    demand(
      !cache.isEnabled || cache.timeout <= 300, [.cacheTimeout], "Regulation (EU) 2018/389 Article 4(3)(d)",
      "at most five minutes without activity; cache passwords for 300 seconds or less")
  }

  mutating func pin(_ reading: PolicyReading) {
    if let lock = reading.lock {
      demand(
        lock.limit.map { $0 <= 10 } ?? false, [.lockType, .limit], "clause attempts",
        "PINs of six digits need a limit of ten attempts or fewer")
    }
    guard let rules = reading.password else {
      return demand(reading.type == nil, [.type], "clause digits", "ask for a PIN")
    }
    demand(
      rules.isNumeric, [.maximum(.letter), .maximum(.nonAlphanumeric)], "clause digits",
      "allow digits only: set maxLetters and maxNonAlphanumeric to 0")
    demand(rules.minimumLength >= 6, [.minLength], "clause length", "ask for six digits or more")
    demand(!rules.allowsSequences, [.allowSequences], "clause sequences", "refuse series such as 123456")
  }
}

extension PasswordRules {
  /// True if passwords consist of digits only.
  var isNumeric: Bool { maximum(of: .letter) == 0 && maximum(of: .nonAlphanumeric) == 0 }

  fileprivate var needsLetters: Bool {
    letters.minimum > 0 || uppercase.minimum > 0 || lowercase.minimum > 0
  }
}

extension LockPolicy {
  /// True if at most this many failures in a row cause a lockout or a wait.
  fileprivate func blocks(within failures: Int) -> Bool {
    if let limit, limit <= failures { return true }
    return (1...failures).contains { wait(afterFailure: $0) > 0 }
  }
}
