/// Asks guards whether this program, or the system around it, is being tampered with.
///
/// ```swift
/// let integrity = try Integrity()
/// let report = await integrity.evaluate()
/// print(report.score, report.evidence.map(\.explanation))
/// ```
/// An app keeps one: what stays the same between evaluations, such as where functions lie, is looked up once. It asks when it comes to
/// the foreground and before what matters (``IntegrityGate``).
public final class Integrity: Sendable {
  /// How evidence is weighed and what follows.
  public let settings: IntegritySettings
  /// How the program was built.
  public let flavour: Flavour
  private let guards: [any Guard]
  private let threads: GuardThreads
  /// So many guards that cannot look are no chance any more.
  private static let silenceLimit = 3

  /// The standard guards and settings of a flavour.
  ///
  /// - Parameters:
  ///   - flavour: How the program was built.
  ///   - settings: How evidence is weighed; ``IntegritySettings/standard(for:)`` where this is `nil`.
  /// - Throws: ``IntegrityFailure/thresholdOutOfRange(_:)``, ``IntegrityFailure/weightOutOfRange(name:_:)``.
  public convenience init(
    flavour: Flavour = .current, settings: IntegritySettings? = nil
  ) throws(IntegrityFailure) {
    try self.init(guards: Self.standardGuards(for: flavour), flavour: flavour, settings: settings)
  }

  /// Guards of one's own choice.
  ///
  /// - Parameters:
  ///   - guards: At least one; `Integrity.standardGuards(for: .current) + [MyGuard()]` adds to the standard ones.
  ///   - flavour: How the program was built.
  ///   - settings: How evidence is weighed; ``IntegritySettings/standard(for:)`` where this is `nil`.
  ///   - clock: What the time of guards in this process is measured by, and of waiting for those in one of their own.
  /// - Throws: ``IntegrityFailure`` for an empty list, a name that two guards have, and settings out of range.
  public init(
    guards: [any Guard], flavour: Flavour = .current, settings: IntegritySettings? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) throws(IntegrityFailure) {
    guard !guards.isEmpty else { throw .noGuards }
    var names: Set<String> = []
    for each in guards where !names.insert(each.name).inserted { throw .duplicateGuard(each.name) }
    let settings = settings ?? .standard(for: flavour)
    try settings.check()
    self.guards = guards
    self.settings = settings
    self.flavour = flavour
    threads = GuardThreads(clock: clock)
  }

  /// The names of the guards, in the order in which they are asked.
  public var guardNames: [String] { guards.map(\.name) }

  /// Asks all guards, one after the other.
  ///
  /// It takes a few milliseconds, and as long as the limits of guards that hang.
  public func evaluate() async -> IntegrityReport {
    let start = ContinuousClock.now
    var evidence: [Evidence] = []
    var silent: [String] = []
    for each in guards {
      let found = await threads.run(each)
      if found.contains(where: { Finding.ofSilence.contains($0.finding) }) { silent.append(each.name) }
      evidence += found
    }
    if silent.count >= Self.silenceLimit {
      evidence.append(
        Evidence(
          .silencedGuards,
          "\(silent.count) of \(guards.count) guards could not look (\(silent.joined(separator: ", ")))"))
    }
    evidence = evidence.map(settings.weighed)
    return IntegrityReport(
      flavour: flavour, score: settings.scoring.score(evidence), scoring: settings.scoring,
      threshold: settings.threshold, reaction: settings.reaction, evidence: evidence, guards: guardNames,
      duration: .now - start)
  }
}

extension Integrity {
  /// The guards of a flavour on this platform.
  ///
  /// A debug program is developed on: it has none that would find a debugger, hooks, a virtual machine, root or a changed program.
  public static func standardGuards(for flavour: Flavour) -> [any Guard] {
    #if os(Linux)
      let common: [any Guard] = [EnvironmentGuard(), ScreenLockGuard(), CoreDumpGuard()]
      guard flavour == .release else { return common }
      let hidden: [any Guard] = [
        DebuggerGuard(), InstrumentationGuard(), HookGuard(), LibraryGuard(), RootGuard(), EmulatorGuard(),
        BinaryGuard(),
      ]
      return hidden + common
    #elseif canImport(Darwin)
      let common: [any Guard] = [EnvironmentGuard()]
      return flavour == .release
        ? [JailbreakFileGuard(), SandboxGuard(), LoadedImageGuard()] + common : common
    #else
      return [EnvironmentGuard()]
    #endif
  }
}
