import SignetJSON

/// A source that reads rules from an object in the JSON form.
///
/// An unknown member is a failure. A device that skipped an unknown rule would silently enforce a weaker policy than the
/// server's.
struct JSONPolicySource: PolicySource {
  private let object: JSONObject
  var failures: [PolicyFailure] = []

  init(_ object: JSONObject) { self.object = object }

  mutating func number(_ rule: PolicyRule) -> Int? {
    noting { object throws(JSONFailure) in try object.optionalInteger(rule.member).map { Int(clamping: $0) } }
  }

  mutating func numbers(_ rule: PolicyRule) -> [Int]? {
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

  mutating func flag(_ rule: PolicyRule) -> Bool? {
    noting { object throws(JSONFailure) in try object.optionalBool(rule.member) }
  }

  mutating func word(_ rule: PolicyRule) -> String? {
    noting { object throws(JSONFailure) in try object.optionalString(rule.member) }
  }

  /// Reads a required inner object; `nil` if it is absent.
  mutating func object(_ name: String) -> JSONObject? {
    let found = noting { object throws(JSONFailure) in try object.optionalObject(name) }
    if found == nil, !object.contains(name) { failures.append(.malformed(.missingMember(name))) }
    return found
  }

  mutating func missing(_ rule: PolicyRule) {
    // A member of the wrong type was recorded when it was read.
    if !object.contains(rule.member) { failures.append(.malformed(.missingMember(rule.member))) }
  }

  mutating func allow(only rules: [PolicyRule], among group: [PolicyRule]) {
    allow(only: rules.map(\.member))
  }

  mutating func allow(only names: [String]) {
    failures += object.members.map(\.name).filter { !names.contains($0) }.map { .unknownRule($0) }
  }

  private mutating func noting<Value>(_ read: (JSONObject) throws(JSONFailure) -> Value?) -> Value? {
    do { return try read(object) } catch {
      failures.append(.malformed(error))
      return nil
    }
  }
}

extension PolicyRule {
  /// The name of the member: a lock policy's type is `type` in its own object.
  fileprivate var member: String { self == .lockType ? PolicyRule.type.rawValue : rawValue }
}
