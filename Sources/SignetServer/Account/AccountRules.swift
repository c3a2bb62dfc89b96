package import SignetIntegrity
package import SignetPolicy
package import SignetStorage

/// The operator's rules for broken account policies.
///
/// The policies of new containers are in the profile.
package struct AccountRules: Hashable, Sendable {
  /// The server's reaction to a report with a broken policy.
  package enum Reaction: String, Hashable, Sendable, CaseIterable {
    /// No reaction; the audit log has the report.
    case allow
    /// The server rejects one-time codes of the container, but accepts its signatures.
    case stepUp
    /// The server locks the container until a report without the breach.
    case lock
    /// The device deletes the container.
    case wipe
  }

  /// The reactions by policy name; `lock` for a policy without one.
  package var reactions: [String: Reaction] = [:]
  /// The accepted flavours of apps, such as `release`; a report of any other flavour, or of none, locks the container.
  ///
  /// Empty accepts any.
  package var flavours: Set<String> = []

  /// The weights with which the server scores a device's findings of tampering; `nil` to use the device's score.
  ///
  /// Only the weights of categories count here. The policy sets the threshold, and ``reactions`` the reaction.
  package var tampering: IntegritySettings?

  /// Creates rules that lock for each broken policy and accept any flavour.
  package init() {}

  /// Returns the evidence to evaluate, with the server's own score if there are weights for it.
  ///
  /// A device without findings keeps its own score, which another measure of the app may have produced.
  func weighed(_ evidence: AccountEvidence) -> AccountEvidence {
    guard let tampering, evidence.tamperScore != nil, !evidence.tamperFindings.isEmpty else {
      return evidence
    }
    var weighed = evidence
    weighed.tamperScore = tampering.score(
      ofReported: evidence.tamperFindings.map { ($0.category, $0.weight) })
    return weighed
  }

  /// Returns the gravest reaction to a report.
  ///
  /// - Parameters:
  ///   - breaches: The breaches by the server's own evaluation, and those of an app's own policies that the device reports.
  ///   - flavour: The build flavour that the app states.
  /// - Returns: The reaction and its reason.
  package func gravestReaction(to breaches: [AccountPolicyBreach], flavour: String?) -> (
    reaction: Reaction, reason: String
  ) {
    if !flavours.isEmpty, !flavours.contains(flavour ?? "") {
      return (.lock, "apps of this flavour are not accepted: \((flavour ?? "unknown").prefix(64))")
    }
    var found: (reaction: Reaction, reason: String) = (.allow, "")
    for breach in breaches {
      let reaction = reactions[breach.policy] ?? .lock
      if reaction.severity > found.reaction.severity { found = (reaction, breach.description) }
    }
    return found
  }
}

extension AccountRules.Reaction {
  fileprivate var severity: Int {
    switch self {
    case .allow: 0
    case .stepUp: 1
    case .lock: 2
    case .wipe: 3
    }
  }

  /// The container's state after this reaction.
  package var compliance: ComplianceState {
    switch self {
    case .allow: .open
    case .stepUp: .stepUp
    case .lock, .wipe: .locked
    }
  }
}
