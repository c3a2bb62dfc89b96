package import SignetPolicy
import SignetText

/// An account policy, or a parameter of one, that the server does not evaluate: one of an app's own or of a later version, or a typing
/// error.
package struct UnevaluatedPolicy: Hashable, Sendable, CustomStringConvertible {
  /// The policy's name; of a parameter with the names of what it stands in, such as `osVersion.linx`.
  package let name: String
  /// The closest known name, if one is close.
  private let meant: String?

  /// Creates it from a name that is not built in.
  package init(_ name: String) {
    self.name = name
    meant = closest(to: name, among: AccountPolicyRegistry.builtIn.map(\.name))
  }

  private init(_ parameter: UnknownParameter) {
    name = parameter.path
    meant = closest(to: parameter.name, among: parameter.known)
  }

  /// The parameters of policies that the server does not evaluate.
  package static func parameters(of policies: AccountPolicySet) -> [UnevaluatedPolicy] {
    AccountPolicyRegistry().unknownParameters(in: policies).map { UnevaluatedPolicy($0) }
  }

  /// The consequence, and the closest known name.
  package var description: String {
    "this server does not evaluate \(name): it relies on the device's app to know it"
      + (meant.map { "; did you mean \($0)?" } ?? "")
  }
}
