public import SignetJSON

/// All findings about a policy: errors, warnings, and unmet profiles.
///
/// A review exists for any input, and its size is bounded.
public struct PolicyReview: Sendable {
  /// Errors, then warnings, then unmet profiles; each in the order of the rules.
  public let findings: [PolicyFinding]

  /// The policy; `nil` if there is an error, or if only the rules of a password were given.
  public let policy: ProtectionPolicy?

  /// The rules of a password; `nil` if there is an error, or if the policy's type has none.
  public let passwordPolicy: PasswordPolicy?

  /// True if the policy can be used.
  public var isValid: Bool { !findings.contains { $0.severity == .error } }

  /// Reviews a policy string.
  ///
  /// - Parameter string: `NAME=value` pairs joined by `;`.
  public init(string: String) { self.init(PolicyReading(text: string)) }

  /// Reviews an operator's text: a policy string, or an object in the JSON form.
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

  /// Decides whether a word of a command line is a policy: an object, or letters and `=`.
  ///
  /// - Parameter word: The word as typed.
  /// - Returns: False if it is a name, such as that of a file or a profile.
  public static func isPolicy(_ word: String) -> Bool {
    guard word.unicodeScalars.first != "{" else { return true }
    guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), equals > word.startIndex else {
      return false
    }
    return word.utf8[..<equals].allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
  }

  /// Reviews the JSON form of a protection policy, or of a password policy: an object without `type`.
  ///
  /// - Parameter json: The object; it may have any content.
  public init(_ json: JSONObject) {
    self.init(
      json.contains(PolicyRule.type.member) ? PolicyReading(json) : PolicyReading(passwordRules: json))
  }

  /// Reviews a valid policy for warnings and profiles.
  ///
  /// - Parameter policy: The policy.
  public init(_ policy: ProtectionPolicy) { self.init(PolicyReading(policy)) }

  /// Returns the findings of a profile.
  ///
  /// - Parameter profile: The profile.
  /// - Returns: The changes that the policy needs; empty if it meets the profile, or has errors.
  public func violations(of profile: PolicyProfile) -> [PolicyFinding] {
    findings.filter { $0.profile == profile }
  }

  private init(_ reading: PolicyReading) {
    let values = reading.password?.values ?? [:]
    let errors = reading.failures.map { PolicyFinding($0, values: values) }
    // If numbers are unreadable or out of range, warnings about their combination would be meaningless.
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
    // There is no failure, so only a reading of password rules alone, without a type and lock, throws here.
    do { policy = try reading.policy() } catch { policy = nil }
    do { passwordPolicy = try reading.password.map(PasswordPolicy.init(_:)) } catch { passwordPolicy = nil }
  }
}

extension PasswordRules {
  fileprivate var values: [String: Int] {
    Self.rows.reduce(into: [:]) { $0[$1.rule.name] = $1.value(self)?.number }
  }
}
