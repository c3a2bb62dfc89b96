import SignetPolicy
import SignetText

/// An account policy that the server does not evaluate: one of an app's own, or a typing error.
package struct UnevaluatedPolicy: Hashable, Sendable, CustomStringConvertible {
  /// The policy's name.
  package let name: String

  /// Creates it from a name that is not built in.
  package init(_ name: String) { self.name = name }

  /// The consequence, and the closest built-in name.
  package var description: String {
    let meant = closest(to: name, among: AccountPolicyRegistry.builtIn.map(\.name)).map {
      "; did you mean \($0)?"
    }
    return "this server does not evaluate \(name): it relies on the device's app to know it\(meant ?? "")"
  }
}
