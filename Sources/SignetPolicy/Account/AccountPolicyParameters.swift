public import SignetJSON
import SignetSystem

/// An account's parameters for one policy: the value next to the policy's name.
public struct AccountPolicyParameters: Sendable, Hashable {
  /// The name of the policy.
  public let policy: String
  /// The value as it was written: an object for every built-in policy.
  public let value: JSONValue

  /// Creates parameters.
  public init(policy: String, value: JSONValue) { (self.policy, self.value) = (policy, value) }

  /// Returns the members of the value.
  ///
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)`` if the value is not an object; `null`
  ///   counts as an empty one.
  public func object() throws(AccountPolicyFailure) -> JSONObject {
    switch value {
    case .object(let object): return object
    case .null: return [:]
    default: throw failure("", "must be an object, such as {}")
    }
  }

  /// Reads an optional number and checks its range.
  ///
  /// - Parameters:
  ///   - name: The parameter.
  ///   - isAllowed: Returns true for an accepted number.
  ///   - expected: The accepted numbers, as text that follows "use …".
  /// - Returns: The number; `nil` if the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func number(
    _ name: String, where isAllowed: (Double) -> Bool, expected: String
  ) throws(AccountPolicyFailure) -> Double? {
    let number: Double
    switch try object()[name] {
    case nil: return nil
    case .integer(let value): number = Double(value)
    case .number(let value): number = value
    default: throw failure(name, "is not a number; use \(expected)")
    }
    guard isAllowed(number) else { throw failure(name, "is \(number); use \(expected)") }
    return number
  }

  /// Reads a required whole number and checks its range.
  ///
  /// - Parameters:
  ///   - name: The required parameter.
  ///   - allowed: The accepted numbers.
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

  /// Reads an optional flag.
  ///
  /// - Parameter name: The parameter.
  /// - Returns: The flag; `false` if the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func flag(_ name: String) throws(AccountPolicyFailure) -> Bool {
    switch try object()[name] {
    case nil: return false
    case .bool(let flag): return flag
    default: throw failure(name, "is neither true nor false")
    }
  }

  /// Reads an optional version.
  ///
  /// - Parameters:
  ///   - name: The parameter.
  ///   - object: The object that contains it.
  /// - Returns: The version; `nil` if the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func version(_ name: String, in object: JSONObject) throws(AccountPolicyFailure) -> SoftwareVersion?
  {
    switch object[name] {
    case nil: return nil
    case .string(let text):
      guard let version = SoftwareVersion(text) else {
        throw failure(name, "is not a version; use one such as \"2.10\"")
      }
      return version
    default: throw failure(name, "is not a string; use a version such as \"2.10\"")
    }
  }

  func failure(_ parameter: String, _ reason: String) -> AccountPolicyFailure {
    .invalidParameter(policy: policy, parameter: parameter, reason: reason)
  }
}

/// A parameter that its policy does not know and ignores: from a later version, or a typing error.
package struct UnknownParameter: Hashable, Sendable {
  /// The parameter's name, such as `linx`.
  package let name: String
  /// The name with the names of its enclosing objects: `osVersion.linx`.
  package let path: String
  /// The known names in that object.
  package let known: [String]

  /// Returns the unknown members of an object.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - path: The path of the object.
  ///   - known: The known names.
  /// - Returns: The unknown members, in the order in which they were written.
  static func all(in object: JSONObject, of path: String, known: [String]) -> [UnknownParameter] {
    object.members.filter { member in !known.contains { $0.hasSameBytes(as: member.name) } }.map {
      let name = AccountPolicySet.shown($0.name)
      return UnknownParameter(name: name, path: "\(path).\(name)", known: known)
    }
  }
}
