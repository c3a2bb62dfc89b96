public import SignetIntegrity
package import SignetPolicy
package import SignetStorage

/// What an operator decides about account policies: which ones new containers have is in the profile, here is what a broken one leads
/// to.
public struct AccountRules: Hashable, Sendable {
  /// What the server makes of a report in which a policy is broken.
  public enum Reaction: String, Hashable, Sendable, CaseIterable {
    /// Nothing: it is in the audit log.
    case allow
    /// One-time codes of the container are not taken; signatures are.
    case stepUp
    /// The container is locked, until a report says otherwise.
    case lock
    /// The container is deleted.
    case wipe
  }

  /// What a broken policy leads to, by its name; `lock` where it is not there.
  public var reactions: [String: Reaction] = [:]
  /// The flavours of apps that are taken, such as `release`; a report of another one, or of none, locks.
  ///
  /// Empty for any.
  public var flavours: Set<String> = []

  /// How the server weighs what devices have found of tampering, in the place of the score that they give; `nil` to take theirs.
  ///
  /// Weights are those of categories; threshold and reaction are the policy's and ``reactions``' to say.
  public var tampering: IntegritySettings?

  /// Locks whatever is broken, and takes any flavour.
  public init() {}

  /// What is evaluated of a device's evidence: its score is the server's own where there are weights for that.
  ///
  /// A device that found nothing keeps the score that it gave: another measure of the app's may stand behind it.
  func weighed(_ evidence: AccountEvidence) -> AccountEvidence {
    guard let tampering, evidence.tamperScore != nil, !evidence.tamperFindings.isEmpty else {
      return evidence
    }
    var weighed = evidence
    weighed.tamperScore = tampering.score(
      ofReported: evidence.tamperFindings.map { ($0.category, $0.weight) })
    return weighed
  }

  /// What a report leads to: the gravest of all reactions.
  ///
  /// - Parameters:
  ///   - breaches: What is broken by the server's own evaluation, and what locks the container on the device.
  ///   - flavour: How the app was built, as it says.
  /// - Returns: The reaction, and why.
  package func judge(_ breaches: [AccountPolicyBreach], flavour: String?) -> (
    reaction: Reaction, reason: String
  ) {
    if !flavours.isEmpty, !flavours.contains(flavour ?? "") {
      return (.lock, "apps of this flavour are not taken: \((flavour ?? "unknown").prefix(64))")
    }
    var found: (reaction: Reaction, reason: String) = (.allow, "")
    for breach in breaches {
      let reaction = reactions[breach.policy] ?? .lock
      if reaction.gravity > found.reaction.gravity { found = (reaction, breach.description) }
    }
    return found
  }
}

extension AccountRules.Reaction {
  fileprivate var gravity: Int {
    switch self {
    case .allow: 0
    case .stepUp: 1
    case .lock: 2
    case .wipe: 3
    }
  }

  /// What the container may do from then on.
  package var standing: ComplianceState {
    switch self {
    case .allow: .open
    case .stepUp: .stepUp
    case .lock, .wipe: .locked
    }
  }
}
