import SignetSystem

/// Evaluates the registered policies that an account names, in the order of their registration.
///
/// Evaluation does not stop at the first broken policy. A policy that throws or exceeds the time limit has no result. While
/// a late run has not returned, its policy is not started again.
public final class AccountPolicyEvaluator: Sendable {
  /// The policies that can be evaluated.
  public let registry: AccountPolicyRegistry
  /// The time limit of one evaluation, all policies together.
  public let timeLimit: Duration
  private let reactions: [String: IndeterminateReaction]
  private let runner: BoundedRunner

  /// Creates an evaluator.
  ///
  /// - Parameters:
  ///   - registry: The policies that can be evaluated.
  ///   - timeLimit: The time limit of one evaluation, all policies together.
  ///   - reactions: By policy name, the reactions that override ``AccountPolicy/whenIndeterminate``.
  ///   - clock: The clock of the time limit.
  public init(
    registry: AccountPolicyRegistry = AccountPolicyRegistry(), timeLimit: Duration = .seconds(2),
    reactions: [String: IndeterminateReaction] = [:], clock: any Clock<Duration> = ContinuousClock()
  ) {
    (self.registry, self.timeLimit, self.reactions) = (registry, timeLimit, reactions)
    runner = BoundedRunner(label: "signet.account-policies", clock: clock)
  }

  /// Evaluates an account's policies.
  ///
  /// - Parameters:
  ///   - policies: The account's policies.
  ///   - evidence: The facts about the device.
  /// - Returns: The report; it is ready within the time limit even if a policy never returns.
  public func evaluate(
    _ policies: AccountPolicySet, _ evidence: AccountEvidence
  ) async -> AccountPolicyReport {
    let asked = registry.policies.filter { policies[$0.name] != nil }
    let begun = asked.compactMap { policy in
      policies[policy.name].map { begin(policy, evidence, $0) }
    }
    let verdicts = await runner.answers(
      to: begun, within: timeLimit,
      whereLate: .indeterminate(reason: "the policy has no result after \(timeLimit)"))
    let results = zip(asked, verdicts).map { result(of: $0, $1) }
    return AccountPolicyReport(results: results, unknown: registry.unknown(in: policies))
  }

  /// Evaluates the built-in policies without suspending; all others have no result.
  ///
  /// - Parameters:
  ///   - policies: The account's policies.
  ///   - evidence: The facts about the device.
  /// - Returns: The report.
  public func evaluateAtOnce(
    _ policies: AccountPolicySet, _ evidence: AccountEvidence
  ) -> AccountPolicyReport {
    var results: [AccountPolicyReport.Result] = []
    for policy in registry.policies {
      guard let parameters = policies[policy.name] else { continue }
      let verdict = Self.verdict(ofImmediate: policy, evidence, parameters)
      results.append(
        result(of: policy, verdict ?? .indeterminate(reason: "the policy is not evaluated immediately")))
    }
    return AccountPolicyReport(results: results, unknown: registry.unknown(in: policies))
  }

  private func result(
    of policy: any AccountPolicy, _ verdict: AccountPolicyVerdict
  ) -> AccountPolicyReport.Result {
    AccountPolicyReport.Result(
      policy: policy.name, verdict: verdict,
      whenIndeterminate: reactions[policy.name] ?? policy.whenIndeterminate)
  }

  private static func verdict(
    ofImmediate policy: any AccountPolicy, _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) -> AccountPolicyVerdict? {
    guard let policy = policy as? any ImmediateAccountPolicy else { return nil }
    do { return try policy.verdict(evidence, parameters) } catch {
      return .indeterminate(reason: error.description)
    }
  }

  private func begin(
    _ policy: any AccountPolicy, _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) -> BoundedRun<AccountPolicyVerdict> {
    if let verdict = Self.verdict(ofImmediate: policy, evidence, parameters) { return BoundedRun(verdict) }
    return runner.begin(
      policy.name,
      whereBusy: .indeterminate(reason: "an earlier evaluation of the policy has not finished")
    ) {
      do { return try await policy.evaluate(evidence, parameters) } catch {
        // An app's error text is not trusted to be shown; its type is enough for the policy's author.
        return .indeterminate(reason: "the policy failed with \(type(of: error))")
      }
    }
  }
}
