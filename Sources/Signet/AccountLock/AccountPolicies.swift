public import SignetPolicy

/// How a device evaluates the policies of its containers and accounts.
public struct AccountPolicies: Sendable {
  /// What evaluates them, with the policies of the app.
  public var evaluator: AccountPolicyEvaluator
  /// The version of the app, such as `2.10`; `nil` where it has none.
  public var appVersion: String?
  /// What else knows facts of the device, such as what measures whether it was tampered with.
  public var sources: [any AccountEvidenceSource]

  /// Names all; the built-in policies, and no more sources than the device itself, unless told otherwise.
  public init(
    evaluator: AccountPolicyEvaluator = AccountPolicyEvaluator(), appVersion: String? = nil,
    sources: [any AccountEvidenceSource] = []
  ) {
    (self.evaluator, self.appVersion, self.sources) = (evaluator, appVersion, sources)
  }
}

/// What policies and locks a container or an account has.
public struct AccountStatus: Sendable, Hashable {
  /// The policies.
  public let policies: AccountPolicySet
  /// Those of them that this device does not know; it does not evaluate them.
  public let unknownPolicies: [String]
  /// What locks it.
  public let lock: AccountLock
  /// Whether its server takes no one-time codes for now, but signatures only, and why; `nil` where it takes codes.
  public let stepUpReason: String?
}

/// A container of a server, or an account that was imported.
public enum AccountSubject: Sendable, Hashable {
  /// A container, by its name on this device.
  case container(Container.ID)
  /// An account.
  case account(Account.ID)
}

/// That something else locks a container or an account than before.
public struct AccountLockChange: Sendable, Hashable {
  /// What it is about.
  public let subject: AccountSubject
  /// What locks it now.
  public let lock: AccountLock
}
