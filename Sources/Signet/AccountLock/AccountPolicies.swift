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
