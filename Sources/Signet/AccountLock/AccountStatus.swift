public import SignetPolicy

/// What policies and locks a container or an account has.
public struct AccountStatus: Sendable, Hashable {
  /// The policies.
  public let policies: AccountPolicySet
  /// Those of them that are not evaluated: what this device does not know, and for an imported account how long its server was not
  /// reached, which nothing here reaches.
  public let unknownPolicies: [String]
  /// What locks it.
  public let lock: AccountLock
  /// Whether its server takes no one-time codes for now, but signatures only, and why; `nil` where it takes codes.
  public let stepUpReason: String?
}

extension AccountStatus {
  /// What was found last.
  ///
  /// - Parameters:
  ///   - notes: What is kept.
  ///   - policies: The policies that count.
  ///   - registry: Those that can be evaluated.
  ///   - meaningless: Those that mean nothing here.
  init(
    _ notes: AccountNotes, _ policies: AccountPolicySet, _ registry: AccountPolicyRegistry,
    without meaningless: Set<String> = []
  ) {
    self.init(
      policies: policies,
      unknownPolicies: policies.names.filter { registry[$0] == nil || meaningless.contains($0) },
      lock: notes.lock, stepUpReason: notes.stepUpReason)
  }
}
