public import SignetIntegrity
public import SignetPolicy

/// Tamper detection as a source of evidence for account policies.
///
/// ```swift
/// let integrity = try Integrity()
/// let device = Device(vault: vault, accountPolicies: AccountPolicies(sources: [IntegrityEvidence(integrity)]))
/// ```
public struct IntegrityEvidence: AccountEvidenceSource {
  /// The name of the source, `integrity`.
  public let name = "integrity"
  private let integrity: Integrity

  /// Creates a source.
  ///
  /// - Parameter integrity: The guards and their weights.
  public init(_ integrity: Integrity) { self.integrity = integrity }

  /// Runs the guards.
  ///
  /// If a guard could not run and the others found too little, there is no score; a `deviceTampering` policy then has no result.
  ///
  /// - Returns: The score, all findings by falling weight, and the flavour.
  public func evidence() async -> AccountEvidence {
    let report = await integrity.evaluate()
    var evidence = AccountEvidence()
    evidence.tamperScore = report.verdict == .indeterminate ? nil : report.score
    // A finding without weight here may have weight for a server.
    let unweighted = report.evidence.filter { $0.weight == 0 }
    evidence.tamperFindings = (report.weighty + unweighted).map {
      AccountEvidence.TamperFinding(
        category: $0.category.rawValue, weight: $0.weight, explanation: $0.explanation)
    }
    evidence.flavour = report.flavour.rawValue
    return evidence
  }
}
