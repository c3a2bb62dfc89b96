package import SignetPolicy
import SignetSystem

/// An account policy, or a parameter of one, that the server does not evaluate.
///
/// It belongs to an app or to a later version, or its name is misspelled.
package struct UnevaluatedPolicy: Hashable, Sendable, CustomStringConvertible {
  /// The policy's name; for a parameter with its path, such as `osVersion.linx`.
  package let name: String
  /// The closest known name if one is close, or else all of them.
  private let hint: String

  /// Creates an instance for a policy name that is not built in.
  package init(_ name: String) {
    self.name = name
    hint = Self.hint(at: name, among: AccountPolicyRegistry.builtIn.map(\.name))
  }

  private init(_ parameter: UnknownParameter) {
    name = parameter.path
    hint = Self.hint(at: parameter.name, among: parameter.known)
  }

  private static func hint(at name: String, among names: [String]) -> String {
    if let suggestion = closest(to: name, among: names) { return "did you mean \(suggestion)?" }
    return names.isEmpty ? "it has no known parameters" : "known names: \(names.joined(separator: ", "))"
  }

  /// Returns the policies of a set that the server does not evaluate, then the unknown parameters of the others.
  package static func all(in policies: AccountPolicySet) -> [UnevaluatedPolicy] {
    let registry = AccountPolicyRegistry()
    return policies.names.filter { registry[$0] == nil }.map { UnevaluatedPolicy($0) }
      + parameters(of: policies)
  }

  /// Returns the parameters of policies that the server does not evaluate.
  package static func parameters(of policies: AccountPolicySet) -> [UnevaluatedPolicy] {
    AccountPolicyRegistry().unknownParameters(in: policies).map { UnevaluatedPolicy($0) }
  }

  /// The consequence, and the closest known name or all of them.
  package var description: String {
    "this server does not evaluate \(name): it relies on the device's app to know it; \(hint)"
  }
}
