import SignetPolicy
import SignetProtocol
package import SignetServer

extension ServerConfigurationFile {
  /// The account policies of the settings that the server does not evaluate.
  ///
  /// First those of new containers, then those with a reaction, then unknown parameters.
  fileprivate var unevaluatedPolicies: [UnevaluatedPolicy] {
    let registry = AccountPolicyRegistry()
    let policyNames = services.profile.accountPolicies.names + services.accountRules.reactions.keys.sorted()
    return policyNames.enumerated().filter { registry[$1] == nil && !policyNames[..<$0].contains($1) }.map {
      UnevaluatedPolicy($1)
    } + UnevaluatedPolicy.parameters(of: services.profile.accountPolicies)
  }
}

extension DataDirectory {
  /// Logs the account policies of the settings that the server does not evaluate.
  package func checkAccountPolicies(sayingIn log: EventLog) {
    for policy in settings.unevaluatedPolicies {
      log.error("policy.notEvaluated", ["policy": policy.name, "advice": policy.description])
    }
  }
}
