import SignetPolicy
import SignetText
import SignetWire

/// An account policy that the server does not evaluate: one of an app's own, or a typing error.
public struct UnevaluatedPolicy: Hashable, Sendable, CustomStringConvertible {
  /// The policy's name.
  public let name: String

  /// Says of a policy that it is none of those that are built in.
  public init(_ name: String) { self.name = name }

  /// What follows, and what was probably meant.
  public var description: String {
    let meant = closest(to: name, among: AccountPolicyRegistry.builtIn.map(\.name)).map {
      "; did you mean \($0)?"
    }
    return "this server does not evaluate \(name): it relies on the device's app to know it\(meant ?? "")"
  }
}

extension FolderSettings {
  /// Those of a new container's policies, and of the policies with a reaction.
  var unevaluatedPolicies: [UnevaluatedPolicy] {
    let registry = AccountPolicyRegistry()
    let named = services.profile.accountPolicies.names + services.accountRules.reactions.keys.sorted()
    return named.enumerated().filter { registry[$1] == nil && !named[..<$0].contains($1) }.map {
      UnevaluatedPolicy($1)
    }
  }
}

extension ServerFolder {
  /// Says in a log which account policies of the settings the server does not evaluate.
  public func checkAccountPolicies(sayingIn log: EventLog) {
    for policy in settings.unevaluatedPolicies {
      log.error("policy.notEvaluated", ["policy": policy.name, "advice": policy.description])
    }
  }
}
