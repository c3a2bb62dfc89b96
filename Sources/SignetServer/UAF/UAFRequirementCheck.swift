package import SignetStorage

/// Checks the keys of a UAF response against the requirements.
///
/// The storage calls it in the step that accepts the response, so that later changes to policy or keys count.
package struct UAFRequirementCheck: Sendable {
  private let context: ServiceContext
  private let setup: UAFSetup

  /// Creates a check with a context's requirements and a setup's policies and models.
  package init(_ context: ServiceContext, _ setup: UAFSetup) { (self.context, self.setup) = (context, setup) }

  /// Checks new keys: each one must be able to meet the requirements, since each may be used alone later.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - policy: The name of the requested policy; `nil` for the default.
  /// - Returns: The requirement that is not met; `nil` if all are.
  package func refusal(of keys: [UAFCredentialRecord], under policy: String?) -> UAFOutcome? {
    for key in keys {
      let shown = evidence(of: key).atBest(confirmingTransaction: false)
      if let refusal = unmetRequirement(showing: [shown], policy: policy, transaction: nil) { return refusal }
    }
    return nil
  }

  /// Checks the keys of an authentication.
  ///
  /// One of them must meet the requirements in addition to the policy, and one must meet those of the transaction.
  ///
  /// - Parameters:
  ///   - keys: The keys as stored.
  ///   - policy: The name of the requested policy; `nil` for the default.
  ///   - transaction: The transaction that the response decides; `nil` for none.
  ///   - signsInHere: True if the response signs the user in at the endpoint that issued the request.
  ///   - isConfirmed: Returns true if a key has signed the shown content.
  /// - Returns: The requirement that is not met; `nil` if all are.
  package func refusal(
    of keys: [UAFCredentialRecord], under policy: String?, for transaction: TransactionRecord?,
    signsInHere: Bool, isConfirmed: (UAFCredentialRecord) -> Bool
  ) -> UAFOutcome? {
    let shown = keys.map { key in
      var evidence = evidence(of: key)
      (evidence.isContentSigned, evidence.isPhishingResistant) = (isConfirmed(key), signsInHere)
      return evidence
    }
    return unmetRequirement(showing: shown, policy: policy, transaction: transaction)
  }

  private func evidence(of key: UAFCredentialRecord) -> AuthenticationEvidence {
    AuthenticationEvidence(of: key, among: setup.models)
  }

  private func unmetRequirement(
    showing shown: [AuthenticationEvidence], policy: String?, transaction: TransactionRecord?
  ) -> UAFOutcome? {
    let known = context.settings.requirements
    guard let rule = setup.rule(named: policy, among: known) else {
      return .requirementNotMet(reason: "the policy of the request no longer exists")
    }
    let best = shown.max { $0.keyProtection < $1.keyProtection } ?? AuthenticationEvidence(.uaf)
    guard shown.contains(where: { known.areMet(rule.requirements, by: $0) }) else {
      let unmet = rule.requirements.filter { !known.areMet([$0], by: best) }
      return .requirementNotMet(reason: "the requirement is not met: \(known.missing(for: unmet, in: best))")
    }
    if let transaction, !shown.contains(where: { known.isOneMet(of: transaction.requirements, by: $0) }) {
      let missing = known.missing(for: transaction.requirements, in: best)
      return .requirementNotMet(reason: "the requirement of the transaction is not met: \(missing)")
    }
    return nil
  }
}
