public import SignetIntegrity
public import SignetPolicy

/// What measures whether the program is tampered with, as a source of evidence for account policies.
///
/// ```swift
/// let integrity = try Integrity()
/// let device = Device(vault: vault, accountPolicies: AccountPolicies(sources: [IntegrityEvidence(integrity)]))
/// ```
public struct IntegrityEvidence: AccountEvidenceSource {
  /// `integrity`.
  public let name = "integrity"
  private let integrity: Integrity

  /// A source.
  ///
  /// - Parameter integrity: The guards and what they weigh.
  public init(_ integrity: Integrity) { self.integrity = integrity }

  /// Asks the guards.
  ///
  /// Where a guard could not look and the others found too little, there is no score: a `deviceTampering` policy comes to no result then.
  ///
  /// - Returns: The score, all that was found, the weightiest first, and the flavour.
  public func evidence() async -> AccountEvidence {
    let report = await integrity.evaluate()
    var evidence = AccountEvidence()
    evidence.tamperScore = report.verdict == .indeterminate ? nil : report.score
    // What weighs nothing here may weigh something to a server.
    let unweighty = report.evidence.filter { $0.weight == 0 }
    evidence.tamperFindings = (report.weighty + unweighty).map {
      AccountEvidence.TamperFinding(
        category: $0.category.rawValue, weight: $0.weight, explanation: $0.explanation)
    }
    evidence.flavour = report.flavour.rawValue
    return evidence
  }
}
