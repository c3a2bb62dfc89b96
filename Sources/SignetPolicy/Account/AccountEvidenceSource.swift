import SignetSystem

/// A source of facts about the device, such as the module that measures tampering.
public protocol AccountEvidenceSource: Sendable {
  /// The source's name.
  ///
  /// While a run of this name has not returned, no source of the same name is asked again.
  var name: String { get }

  /// Collects the facts that this source knows.
  ///
  /// The collector stops waiting at the time limit of ``AccountEvidenceCollector``. If the call fails, the facts are
  /// unknown.
  ///
  /// - Returns: The facts; unknown ones are left out.
  /// - Throws: Any error.
  func evidence() async throws -> AccountEvidence
}

/// Asks sources of evidence, all at once, and waits for each no longer than a time limit.
public final class AccountEvidenceCollector: Sendable {
  private let sources: [any AccountEvidenceSource]
  private let timeLimit: Duration
  private let runner: BoundedRunner

  /// Creates a collector.
  ///
  /// - Parameters:
  ///   - sources: The sources to ask; a fact of a later source overwrites that of an earlier one.
  ///   - timeLimit: The time for all sources together; long enough that a busy device still answers.
  ///   - clock: The clock of the time limit; by default one that does not run while the device sleeps.
  public init(
    _ sources: [any AccountEvidenceSource], timeLimit: Duration = .seconds(10),
    clock: any Clock<Duration> = SuspendingClock()
  ) {
    (self.sources, self.timeLimit) = (sources, timeLimit)
    runner = BoundedRunner(label: "signet.evidence", clock: clock)
  }

  /// The merged facts of all sources that answer within the time limit.
  public func evidence() async -> AccountEvidence {
    let begun = sources.map { source in
      runner.begin(source.name, whereBusy: nil) { () -> AccountEvidence? in
        do { return try await source.evidence() } catch { return nil }
      }
    }
    var evidence = AccountEvidence()
    for known in await runner.answers(to: begun, within: timeLimit, whereLate: nil) {
      if let known { evidence.merge(known) }
    }
    return evidence
  }
}
