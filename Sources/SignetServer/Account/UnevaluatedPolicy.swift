package import SignetPolicy
import SignetText

/// An account policy, or a parameter of one, that the server does not evaluate: one of an app's own or of a later version, or a typing
/// error.
package struct UnevaluatedPolicy: Hashable, Sendable, CustomStringConvertible {
  /// The policy's name; of a parameter with the names of what it stands in, such as `osVersion.linx`.
  package let name: String
  /// The closest known name, if one is close, else all of them.
  private let hint: String

  /// Creates it from a name that is not built in.
  package init(_ name: String) {
    self.name = name
    hint = Self.hint(at: name, among: AccountPolicyRegistry.builtIn.map(\.name))
  }

  private init(_ parameter: UnknownParameter) {
    name = parameter.path
    hint = Self.hint(at: parameter.name, among: parameter.known)
  }

  private static func hint(at name: String, among known: [String]) -> String {
    if let meant = closest(to: name, among: known) { return "did you mean \(meant)?" }
    return known.isEmpty ? "none is known there" : "known are \(known.joined(separator: ", "))"
  }

  /// The policies of a set that the server does not evaluate, and then the parameters of the others.
  package static func all(in policies: AccountPolicySet) -> [UnevaluatedPolicy] {
    let registry = AccountPolicyRegistry()
    return policies.names.filter { registry[$0] == nil }.map { UnevaluatedPolicy($0) }
      + parameters(of: policies)
  }

  /// The parameters of policies that the server does not evaluate.
  package static func parameters(of policies: AccountPolicySet) -> [UnevaluatedPolicy] {
    AccountPolicyRegistry().unknownParameters(in: policies).map { UnevaluatedPolicy($0) }
  }

  /// The consequence, and the closest known name or all of them.
  package var description: String {
    "this server does not evaluate \(name): it relies on the device's app to know it; \(hint)"
  }
}
