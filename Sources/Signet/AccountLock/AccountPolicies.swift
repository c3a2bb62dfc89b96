public import SignetPolicy

/// The evaluation of policies of containers and accounts on this device.
public struct AccountPolicies: Sendable {
  /// The evaluator, with the policies of the app.
  public var evaluator: AccountPolicyEvaluator
  /// The version of the app, such as `2.10`; `nil` if it has none.
  public var appVersion: String?
  /// Additional sources of evidence about the device, for example of tampering.
  public var sources: [any AccountEvidenceSource]

  /// Creates an evaluation; by default with the built-in policies and no source in addition to the device itself.
  public init(
    evaluator: AccountPolicyEvaluator = AccountPolicyEvaluator(), appVersion: String? = nil,
    sources: [any AccountEvidenceSource] = []
  ) {
    self.evaluator = evaluator
    self.appVersion = appVersion
    self.sources = sources
  }
}
