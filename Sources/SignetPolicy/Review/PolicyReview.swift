public import SignetJSON

/// All that can be said about a policy: what keeps it from being used, what is doubtful, which profiles it does not meet.
///
/// Whatever the text or object is, a review exists and is bounded in size.
public struct PolicyReview: Sendable {
  /// Errors, then warnings, then what profiles ask for; each in the order of the rules.
  public let findings: [PolicyFinding]

  /// The policy; `nil` if there is an error, or if only the rules of a password were given.
  public let policy: ProtectionPolicy?

  /// The rules of a password; `nil` if there is an error, or if the policy's type has none.
  public let passwordPolicy: PasswordPolicy?

  /// Whether the policy can be used.
  public var isValid: Bool { !findings.contains { $0.severity == .error } }

  /// Reviews a policy string.
  ///
  /// - Parameter string: `NAME=value` pairs joined by `;`.
  public init(string: String) { self.init(PolicyReading(text: string)) }

  /// Reviews a policy as an operator has it: a policy string, or the text of an object in the JSON form.
  ///
  /// - Parameter text: Either form; an object begins with `{`.
  public init(text: String) {
    let start = text.unicodeScalars.first { !" \t\r\n".unicodeScalars.contains($0) }
    guard start == "{" else {
      self.init(string: text)
      return
    }
    do { self.init(try JSONObject(parsing: Array(text.utf8))) } catch {
      self.init(PolicyReading(failure: .malformed(error)))
    }
  }

  /// Whether a word of a command line is meant as a policy: an object, or letters and `=`.
  ///
  /// - Parameter word: What was typed.
  /// - Returns: No where it is the name of something else, a file or a profile.
  public static func isPolicy(_ word: String) -> Bool {
    guard word.unicodeScalars.first != "{" else { return true }
    guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), equals > word.startIndex else {
      return false
    }
    return word.utf8[..<equals].allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
  }

  /// Reviews the JSON form of a protection policy, or of a password policy alone: an object without `type`.
  ///
  /// - Parameter json: The object, as anybody may have written it.
  public init(_ json: JSONObject) {
    self.init(
      json.contains(PolicyRule.type.rawValue) ? PolicyReading(json) : PolicyReading(passwordRules: json))
  }

  /// Reviews a policy that is sound already, for its warnings and profiles.
  ///
  /// - Parameter policy: The policy.
  public init(_ policy: ProtectionPolicy) { self.init(PolicyReading(policy)) }

  /// The findings of a profile.
  ///
  /// - Parameter profile: Which one.
  /// - Returns: What the policy would have to change; empty if it meets the profile, or has errors.
  public func violations(of profile: PolicyProfile) -> [PolicyFinding] {
    findings.filter { $0.profile == profile }
  }

  private init(_ reading: PolicyReading) {
    let values = reading.password?.values ?? [:]
    let errors = reading.failures.map { PolicyFinding($0, values: values) }
    // Where numbers could not be read or are out of range, nothing can be said of what they would make together.
    let isReadable = reading.failures.allSatisfy { if case .contradiction = $0 { true } else { false } }
    let warnings =
      (isReadable ? reading.password?.warnings ?? [] : [])
      + (reading.lock?.warnings(with: reading.password) ?? [])
    guard errors.isEmpty else {
      let wrong = Set(errors.flatMap(\.rules))
      findings = errors + reading.remarks + warnings.filter { wrong.isDisjoint(with: $0.rules) }
      policy = nil
      passwordPolicy = nil
      return
    }
    findings =
      reading.remarks + warnings + PolicyProfile.allCases.flatMap { $0.violations(in: reading) }
    // No failure was found, so only a reading without a type or lock is refused here: rules of a password alone.
    do { policy = try reading.policy() } catch { policy = nil }
    do { passwordPolicy = try reading.password.map(PasswordPolicy.init(_:)) } catch { passwordPolicy = nil }
  }
}

extension PasswordRules {
  /// The numbers, by the names of their rules.
  fileprivate var values: [String: Int] {
    var values: [PolicyRule: Int] = [
      .minLength: minimumLength, .maxLength: maximumLength, .minAge: age.minimumDays,
      .maxAge: age.maximumDays,
    ]
    for kind in CharacterClass.allCases {
      values[kind.minimum] = self[kind].minimum
      values[kind.maximum] = self[kind].maximum
    }
    return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
  }
}
