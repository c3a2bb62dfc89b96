import SignetConcurrency

/// Something that knows facts of the device, such as what measures whether it was tampered with.
public protocol AccountEvidenceSource: Sendable {
  /// What names the source; while one of this name is late, none is asked.
  var name: String { get }

  /// Finds out what it knows. It may take its time, within that of ``AccountEvidenceCollector``, and fail: then nobody knows.
  ///
  /// - Returns: The facts; what it does not know is left out.
  /// - Throws: Anything.
  func evidence() async throws -> AccountEvidence
}

/// Asks sources of evidence, all at once, and waits for each no longer than a time limit.
public final class AccountEvidenceCollector: Sendable {
  private let sources: [any AccountEvidenceSource]
  private let timeLimit: Duration
  private let runner: BoundedRunner

  /// A collector.
  ///
  /// - Parameters:
  ///   - sources: Who is asked; what a later one knows takes the place of what an earlier one says.
  ///   - timeLimit: How long all of them may take together: so long that a busy device is not taken for one that nothing is known of.
  ///   - clock: What that time is measured by; one that stands still while the device sleeps.
  public init(
    _ sources: [any AccountEvidenceSource], timeLimit: Duration = .seconds(10),
    clock: any Clock<Duration> = SuspendingClock()
  ) {
    (self.sources, self.timeLimit) = (sources, timeLimit)
    runner = BoundedRunner(label: "signet.evidence", clock: clock)
  }

  /// What all of them know now, within the time limit, whatever they do.
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
