public import SignetPolicy

/// The policies and locks of a container or an account.
public struct AccountStatus: Sendable, Hashable {
  /// The policies in effect.
  public let policies: AccountPolicySet
  /// The names of policies that are not evaluated: unknown ones, and for an imported account those on contact with its server.
  public let unknownPolicies: [String]
  /// The locks in effect.
  public let lock: AccountLock
  /// The reason why the server accepts only signatures and no one-time codes for now; `nil` if it accepts codes.
  public let stepUpReason: String?
}

extension AccountStatus {
  /// Creates a status from the stored state.
  ///
  /// - Parameters:
  ///   - state: The stored state.
  ///   - policies: The policies in effect.
  ///   - registry: The policies that can be evaluated.
  ///   - inapplicable: The names of policies that do not apply here.
  init(
    _ state: AccountState, _ policies: AccountPolicySet, _ registry: AccountPolicyRegistry,
    without inapplicable: Set<String> = []
  ) {
    self.init(
      policies: policies,
      unknownPolicies: policies.names.filter { registry[$0] == nil || inapplicable.contains($0) },
      lock: state.lock, stepUpReason: state.stepUpReason)
  }
}
