import SignetConcurrency

/// Evaluates the policies of accounts: all that are registered and that the account names, in the order of their registration.
///
/// All of an account's policies are evaluated, also after one is broken. A policy that throws, or has no result in time, comes to
/// none; one that was late, and has still not come back, is not started again meanwhile.
public final class AccountPolicyEvaluator: Sendable {
  /// The policies that can be evaluated.
  public let registry: AccountPolicyRegistry
  /// How long an evaluation may take, all policies together.
  public let timeLimit: Duration
  private let reactions: [String: IndeterminateReaction]
  private let runner: BoundedRunner

  /// An evaluator.
  ///
  /// - Parameters:
  ///   - registry: The policies that can be evaluated.
  ///   - timeLimit: How long an evaluation may take, all policies together.
  ///   - reactions: What becomes of an account where a policy comes to no result, by the names of the policies, where it is another
  ///     thing than they say themselves.
  ///   - clock: What the time of an evaluation is measured by.
  public init(
    registry: AccountPolicyRegistry = AccountPolicyRegistry(), timeLimit: Duration = .seconds(2),
    reactions: [String: IndeterminateReaction] = [:], clock: any Clock<Duration> = ContinuousClock()
  ) {
    (self.registry, self.timeLimit, self.reactions) = (registry, timeLimit, reactions)
    runner = BoundedRunner(label: "signet.account-policies", clock: clock)
  }

  /// Evaluates.
  ///
  /// - Parameters:
  ///   - policies: The account's.
  ///   - evidence: What is known of the device.
  /// - Returns: What each came to, within the time limit, whatever the policies do.
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

  /// Evaluates the built-in policies without waiting for anything; all others come to no result.
  ///
  /// - Parameters:
  ///   - policies: The account's.
  ///   - evidence: What is known of the device.
  /// - Returns: What each came to.
  public func evaluateAtOnce(
    _ policies: AccountPolicySet, _ evidence: AccountEvidence
  ) -> AccountPolicyReport {
    var results: [AccountPolicyReport.Result] = []
    for policy in registry.policies {
      guard let parameters = policies[policy.name] else { continue }
      let verdict = Self.verdict(ofImmediate: policy, evidence, parameters)
      results.append(result(of: policy, verdict ?? .indeterminate(reason: "the policy takes its time")))
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
      whereBusy: .indeterminate(reason: "an earlier evaluation of the policy has not come back")
    ) {
      do { return try await policy.evaluate(evidence, parameters) } catch {
        // What it says may be anything; what kind of failure it is helps whoever wrote the policy.
        return .indeterminate(reason: "the policy failed with \(type(of: error))")
      }
    }
  }
}
