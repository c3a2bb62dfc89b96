public import SignetJSON

/// What an account asks of a policy: the value beside its name.
public struct AccountPolicyParameters: Sendable, Hashable {
  /// The name of the policy.
  public let policy: String
  /// The value, as it was written: an object in all policies of ours.
  public let value: JSONValue

  /// Names both.
  public init(policy: String, value: JSONValue) { (self.policy, self.value) = (policy, value) }

  /// The members.
  ///
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)`` where the value is no object; `null` counts as
  ///   an empty one.
  public func object() throws(AccountPolicyFailure) -> JSONObject {
    switch value {
    case .object(let object): return object
    case .null: return [:]
    default: throw failure("", "takes an object, such as {}")
    }
  }

  /// A number in a range.
  ///
  /// - Parameters:
  ///   - name: The parameter.
  ///   - isAllowed: Whether a number is one that the policy takes.
  ///   - expected: What it takes, to go on with "use …".
  /// - Returns: The number; `nil` where the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func number(
    _ name: String, where isAllowed: (Double) -> Bool, expected: String
  ) throws(AccountPolicyFailure) -> Double? {
    let number: Double
    switch try object()[name] {
    case nil: return nil
    case .integer(let value): number = Double(value)
    case .number(let value): number = value
    default: throw failure(name, "is no number; use \(expected)")
    }
    guard isAllowed(number) else { throw failure(name, "is \(number); use \(expected)") }
    return number
  }

  /// A whole number in a range.
  ///
  /// - Parameters:
  ///   - name: The parameter, which has to be there.
  ///   - allowed: The numbers that the policy takes.
  /// - Returns: The number.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func integer(
    _ name: String, in allowed: ClosedRange<Int64>
  ) throws(AccountPolicyFailure) -> Int64 {
    let expected = "use a whole number from \(allowed.lowerBound) to \(allowed.upperBound)"
    guard let value = try object()[name] else { throw failure(name, "is missing; \(expected)") }
    guard case .integer(let number) = value, allowed.contains(number) else {
      throw failure(name, "is out of range; \(expected)")
    }
    return number
  }

  /// A flag.
  ///
  /// - Parameter name: The parameter.
  /// - Returns: The flag; `false` where the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func flag(_ name: String) throws(AccountPolicyFailure) -> Bool {
    switch try object()[name] {
    case nil: return false
    case .bool(let flag): return flag
    default: throw failure(name, "is neither true nor false")
    }
  }

  /// A version.
  ///
  /// - Parameters:
  ///   - name: The parameter.
  ///   - object: Where it stands.
  /// - Returns: The version; `nil` where the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func version(_ name: String, in object: JSONObject) throws(AccountPolicyFailure) -> SoftwareVersion?
  {
    switch object[name] {
    case nil: return nil
    case .string(let text):
      guard let version = SoftwareVersion(text) else {
        throw failure(name, "is no version; use one such as \"2.10\"")
      }
      return version
    default: throw failure(name, "is no text; use a version such as \"2.10\"")
    }
  }

  func failure(_ parameter: String, _ reason: String) -> AccountPolicyFailure {
    .invalidParameter(policy: policy, parameter: parameter, reason: reason)
  }
}
