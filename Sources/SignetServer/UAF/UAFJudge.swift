package import SignetStorage

/// Judges the keys of a UAF response by what is required, in the step that takes the response, so that what has changed by then counts.
package struct UAFJudge: Sendable {
  private let context: ServiceContext
  private let setup: UAFSetup

  /// By the requirements of a context, and the policies and models of a setup.
  package init(_ context: ServiceContext, _ setup: UAFSetup) { (self.context, self.setup) = (context, setup) }

  /// Judges new keys: whichever of them is used later, it has to do.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - policy: The name that the request has chosen; `nil` for the default.
  /// - Returns: The requirement that is not met; `nil` if all are.
  package func refusal(of keys: [UAFCredentialRecord], under policy: String?) -> UAFOutcome? {
    for key in keys {
      let shown = evidence(of: key).atBest(confirmingTransaction: false)
      if let refusal = unmetRequirement(showing: [shown], policy: policy, transaction: nil) { return refusal }
    }
    return nil
  }

  /// Judges the keys of an authentication: one of them has to meet what the policy requires beside itself, and what the transaction
  /// requires.
  ///
  /// - Parameters:
  ///   - keys: The keys, as they are stored.
  ///   - policy: The name that the request has chosen; `nil` for the default.
  ///   - transaction: The transaction that the response decides; `nil` for none.
  ///   - signsInHere: Whether the response signs in where it was asked for.
  ///   - isConfirmed: Whether a key has signed what was shown.
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
      return .requirementNotMet(reason: "the policy of the request is not there any more")
    }
    let best = shown.max { $0.keyProtection < $1.keyProtection } ?? AuthenticationEvidence(.uaf)
    guard shown.contains(where: { known.areMet(rule.requirements, by: $0) }) else {
      let unmet = rule.requirements.filter { !known.areMet([$0], by: best) }
      return .requirementNotMet(reason: "the requirement is not met: \(known.missing(for: unmet, in: best))")
    }
    if let transaction, !shown.contains(where: { known.isOneMet(of: transaction.requirements, by: $0) }) {
      let missing = known.missing(for: transaction.requirements, in: best)
      return .requirementNotMet(reason: "what the transaction requires is not met: \(missing)")
    }
    return nil
  }
}
