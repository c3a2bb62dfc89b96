package import SignetUAF
import Synchronization

/// What UAF is served with.
public final class UAFSetup: Sendable {
  /// What the operator decided.
  public let settings: UAFSettings
  private let current: Mutex<AuthenticatorModels>
  private let read: (@Sendable () throws -> AuthenticatorModels)?

  /// Puts settings and models together.
  ///
  /// - Parameters:
  ///   - settings: What the operator decided.
  ///   - models: The models of authenticators that are known; all others are refused.
  ///   - read: Reads the models again; `nil` where they stay.
  package init(
    _ settings: UAFSettings, models: AuthenticatorModels,
    read: (@Sendable () throws -> AuthenticatorModels)? = nil
  ) {
    (self.settings, self.read) = (settings, read)
    current = Mutex(models)
  }

  /// The models of authenticators that are known.
  package var models: AuthenticatorModels { current.withLock { $0 } }

  /// The policy of a name; without a name the default one, which is all known models where none is set.
  package func policy(named name: String?) -> Policy? {
    if let policy = settings.policies[name ?? UAFNames.defaultPolicy] { return policy }
    guard name == nil || name == UAFNames.defaultPolicy else { return nil }
    return Policy(accepted: models.aaids.map { [MatchCriteria(aaids: [$0])] })
  }

  /// What holds under a name: a policy, and the names of the requirements that keys have to meet beside it.
  struct Rule {
    var policy: Policy
    var requirements: [String]
  }

  /// What holds under the name of a policy, or of a requirement: then the default policy, and that requirement beside it.
  ///
  /// - Parameters:
  ///   - name: The name; `nil` for what is the default.
  ///   - requirements: The requirements that there are.
  /// - Returns: The rule; `nil` where there is neither policy nor requirement of this name.
  func rule(named name: String?, among requirements: NamedRequirements) -> Rule? {
    let beside = settings.requirements[name ?? UAFNames.defaultPolicy].map { [$0] } ?? []
    if let policy = policy(named: name) { return Rule(policy: policy, requirements: beside) }
    guard let name, requirements[name] != nil,
      var rule = rule(named: nil, among: requirements)
    else { return nil }
    rule.requirements.append(name)
    return rule
  }

  /// Whether a name stands for a requirement, beside which the default policy holds, or for a policy that requires it.
  func demandsRequirement(_ name: String) -> Bool {
    policy(named: name) == nil || settings.requirements[name] == name
  }

  /// Reads the metadata statements again; where one is none, all stay as they were.
  ///
  /// - Returns: How many models are known now.
  /// - Throws: What reading throws.
  func readMetadata() throws -> Int {
    if let models = try read?() { current.withLock { $0 = models } }
    return models.aaids.count
  }
}
