import SignetJSON

/// A source that reads rules from an object in the JSON form.
///
/// An unknown member is a failure: a device that ignored a rule would silently enforce a weaker policy.
final class JSONPolicySource: PolicySource {
  private let object: JSONObject
  var failures: [PolicyFailure] = []

  init(_ object: JSONObject) { self.object = object }

  func number(_ rule: PolicyRule) -> Int? {
    noting { object throws(JSONFailure) in try object.optionalInteger(rule.member).map { Int(clamping: $0) } }
  }

  func numbers(_ rule: PolicyRule) -> [Int]? {
    guard let values = noting({ object throws(JSONFailure) in try object.optionalArray(rule.member) }) else {
      return nil
    }
    var numbers: [Int] = []
    for value in values {
      guard case .integer(let number) = value else {
        failures.append(.malformed(.wrongType(member: rule.member, expected: .integer)))
        return nil
      }
      numbers.append(Int(clamping: number))
    }
    return numbers
  }

  func flag(_ rule: PolicyRule) -> Bool? {
    noting { object throws(JSONFailure) in try object.optionalBool(rule.member) }
  }

  func word(_ rule: PolicyRule) -> String? {
    noting { object throws(JSONFailure) in try object.optionalString(rule.member) }
  }

  /// A nested object, or `nil` if it is absent.
  func object(_ name: String) -> JSONObject? {
    let found = noting { object throws(JSONFailure) in try object.optionalObject(name) }
    if found == nil, !object.contains(name) { failures.append(.malformed(.missingMember(name))) }
    return found
  }

  func consequence(_ rule: PolicyRule) -> LimitConsequence? {
    guard let word = word(rule) else { return nil }
    if let consequence = LimitConsequence(rawValue: word) { return consequence }
    failures.append(.unknownType(word))
    return .lockOut
  }

  func missing(_ rule: PolicyRule, default: Int?) {
    // A member of the wrong type was recorded when it was read.
    if !object.contains(rule.member) { failures.append(.malformed(.missingMember(rule.member))) }
  }

  func allow(only rules: [PolicyRule], among group: [PolicyRule]) {
    allow(only: rules.map(\.member))
  }

  func allow(only names: [String]) {
    failures += object.members.map(\.name).filter { !names.contains($0) }.map { .unknownRule($0) }
  }

  private func noting<Value>(_ read: (JSONObject) throws(JSONFailure) -> Value?) -> Value? {
    do { return try read(object) } catch {
      failures.append(.malformed(error))
      return nil
    }
  }
}
