package import SignetUAF
import Synchronization

/// The settings and the authenticator models with which UAF is served.
package final class UAFSetup: Sendable {
  /// The operator's settings.
  package let settings: UAFSettings
  private let current: Mutex<AuthenticatorModels>
  private let read: (@Sendable () throws -> AuthenticatorModels)?

  /// Creates a setup from settings and models.
  ///
  /// - Parameters:
  ///   - settings: The operator's settings.
  ///   - models: The known models of authenticators; all others are rejected.
  ///   - read: Reads the models again; `nil` if they cannot change.
  package init(
    _ settings: UAFSettings, models: AuthenticatorModels,
    read: (@Sendable () throws -> AuthenticatorModels)? = nil
  ) {
    (self.settings, self.read) = (settings, read)
    current = Mutex(models)
  }

  package var models: AuthenticatorModels { current.withLock { $0 } }

  /// Returns a policy by its name, or the default policy for `nil`.
  ///
  /// If no default is set, it accepts all known models.
  package func policy(named name: String?) -> Policy? {
    if let policy = settings.policies[name ?? UAFNames.defaultPolicy] { return policy }
    guard name == nil || name == UAFNames.defaultPolicy else { return nil }
    return Policy(accepted: models.aaids.map { [MatchCriteria(aaids: [$0])] })
  }

  /// A policy, and the names of the requirements that keys must meet in addition.
  struct Rule {
    var policy: Policy
    var requirements: [String]
  }

  /// Returns the rule for the name of a policy or of a requirement.
  ///
  /// For a requirement, it is the rule of the default policy with that requirement added.
  ///
  /// - Parameters:
  ///   - name: The name; `nil` for the default.
  ///   - requirements: The defined requirements.
  /// - Returns: The rule; `nil` if neither a policy nor a requirement has this name.
  func rule(named name: String?, among requirements: NamedRequirements) -> Rule? {
    let additional = settings.requirements[name ?? UAFNames.defaultPolicy].map { [$0] } ?? []
    if let policy = policy(named: name) { return Rule(policy: policy, requirements: additional) }
    guard let name, requirements[name] != nil,
      var rule = rule(named: nil, among: requirements)
    else { return nil }
    rule.requirements.append(name)
    return rule
  }

  /// Returns true if a name is that of a requirement, or of a policy with a requirement of the same name.
  func demandsRequirement(_ name: String) -> Bool {
    policy(named: name) == nil || settings.requirements[name] == name
  }

  /// Reads the metadata statements again; if one is invalid, all models stay as they were.
  ///
  /// - Returns: The number of known models.
  /// - Throws: The failure to read them.
  func readMetadata() throws -> Int {
    if let models = try read?() { current.withLock { $0 = models } }
    return models.aaids.count
  }
}
