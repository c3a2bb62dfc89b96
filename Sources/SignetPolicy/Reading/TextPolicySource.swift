import SignetJSON

/// A source that reads rules from a policy string: `NAME=value` pairs joined by `;`, in any order.
///
/// Codes and keywords are case-insensitive, and surrounding spaces are ignored. An unknown code is recorded as a remark, so that
/// strings of other systems can be migrated: the operator who saves one sees which codes were ignored.
final class TextPolicySource: PolicySource {
  /// The maximum length in bytes, to bound the work.
  static let maximumByteCount = 4096

  private var values: [String: String] = [:]
  var failures: [PolicyFailure] = []
  private(set) var remarks: [PolicyFinding] = []

  init(_ text: String) {
    guard text.utf8.count <= Self.maximumByteCount else {
      failures.append(.tooLong(byteCount: text.utf8.count, limit: Self.maximumByteCount))
      return
    }
    for pair in text.split(separator: ";") {
      let pair = pair.trimmed
      if pair.isEmpty { continue }
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let code = parts[0].trimmed.uppercased()
      guard parts.count == 2, !code.isEmpty else {
        failures.append(.notAPair(String(pair.prefix(40))))
        continue
      }
      if !PolicyRule.codes.contains(code) {
        remarks.append(PolicyFinding(unknownCode: code))
      } else if values.updateValue(String(parts[1].trimmed), forKey: code) != nil {
        failures.append(.repeatedRule(code))
      }
    }
  }

  /// True if the string has a code of a lock policy.
  var hasLock: Bool { PolicyRule.ofLocks.contains { values[$0.code] != nil } }

  func number(_ rule: PolicyRule) -> Int? {
    values[rule.code].flatMap { number($0, of: rule) }
  }

  func numbers(_ rule: PolicyRule) -> [Int]? {
    guard let text = values[rule.code] else { return nil }
    var numbers: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let number = number(part.trimmed, of: rule) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  func flag(_ rule: PolicyRule) -> Bool? {
    guard let text = values[rule.code] else { return nil }
    switch text.lowercased() {
    case "1", "true": return true
    case "0", "false": return false
    default:
      failures.append(.notAValue(rule: rule.code, expected: "0 or 1"))
      return nil
    }
  }

  func word(_ rule: PolicyRule) -> String? {
    guard let text = values[rule.code] else { return nil }
    let keywords = ProtectionPolicy.typeNames + LockPolicy.typeNames
    return keywords.first { $0.lowercased() == text.lowercased() } ?? text.lowercased()
  }

  func consequence(_ rule: PolicyRule) -> LimitConsequence? { flag(rule).map { $0 ? .wipe : .lockOut } }

  func missing(_ rule: PolicyRule, default standard: Int?) {
    if values[rule.code] != nil { return }  // invalid, and recorded when it was read
    if let standard {
      remarks.append(PolicyFinding(unset: rule, standard: standard))
    } else {
      failures.append(.malformed(.missingMember(rule.code)))
    }
  }

  func allow(only rules: [PolicyRule], among group: [PolicyRule]) {
    let allowed = Set(rules.map(\.code))
    for code in Set(group.map(\.code)).subtracting(allowed).sorted() where values[code] != nil {
      remarks.append(PolicyFinding(idleCode: code))
    }
  }

  private func number(_ text: String, of rule: PolicyRule) -> Int? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      failures.append(.notAValue(rule: rule.code, expected: "a whole number"))
      return nil
    }
    return Int(text) ?? (text.hasPrefix("-") ? .min : .max)
  }
}

extension StringProtocol {
  /// The text without surrounding spaces and line ends.
  fileprivate var trimmed: String {
    let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
    var scalars = Substring(self).unicodeScalars
    while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
    while let last = scalars.last, isSpace(last) { scalars.removeLast() }
    return String(scalars)
  }
}
