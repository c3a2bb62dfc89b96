/// Runs guards that look for tampering with this program or the system around it.
///
/// ```swift
/// let integrity = try Integrity()
/// let report = await integrity.evaluate()
/// print(report.score, report.evidence.map(\.explanation))
/// ```
/// An app keeps one instance, because facts that do not change between evaluations, such as addresses of functions, are cached.
/// It evaluates when the app comes to the foreground and before sensitive operations (``IntegrityGate``).
public final class Integrity: Sendable {
  /// The scoring of evidence and the reaction.
  public let settings: IntegritySettings
  /// The build flavour of the program.
  public let flavour: Flavour
  private let guards: [any Guard]
  private let threads: GuardThreads
  /// From this number of guard failures on, chance is no longer a plausible cause.
  private static let guardFailureLimit = 3

  /// Creates an instance with the standard guards of a flavour.
  ///
  /// - Parameters:
  ///   - flavour: The build flavour of the program.
  ///   - settings: The scoring and the reaction; ``IntegritySettings/standard(for:)`` if `nil`.
  /// - Throws: ``IntegrityFailure/thresholdOutOfRange(_:)``, ``IntegrityFailure/weightOutOfRange(name:_:)``.
  public convenience init(
    flavour: Flavour = .current, settings: IntegritySettings? = nil
  ) throws(IntegrityFailure) {
    try self.init(guards: Self.standardGuards(for: flavour), flavour: flavour, settings: settings)
  }

  /// Creates an instance with a custom list of guards.
  ///
  /// - Parameters:
  ///   - guards: At least one; `Integrity.standardGuards(for: .current) + [MyGuard()]` adds to the standard ones.
  ///   - flavour: The build flavour of the program.
  ///   - settings: The scoring and the reaction; ``IntegritySettings/standard(for:)`` if `nil`.
  ///   - clock: The clock of the time limits of guards, those in child processes included.
  /// - Throws: ``IntegrityFailure`` for an empty list, a duplicate name, and settings out of range.
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

  /// The names of the guards, in the order in which they run.
  public var guardNames: [String] { guards.map(\.name) }

  /// Runs all guards, one after the other.
  ///
  /// It takes a few milliseconds, plus the time limits of guards that hang.
  public func evaluate() async -> IntegrityReport {
    let start = ContinuousClock.now
    var evidence: [Evidence] = []
    var failing: [String] = []
    for each in guards {
      let found = await threads.run(each)
      if found.contains(where: { Finding.guardFailures.contains($0.finding) }) { failing.append(each.name) }
      evidence += found
    }
    if failing.count >= Self.guardFailureLimit {
      evidence.append(
        Evidence(
          .silencedGuards,
          "\(failing.count) of \(guards.count) guards could not run (\(failing.joined(separator: ", ")))"))
    }
    evidence = evidence.map(settings.weighed)
    return IntegrityReport(
      flavour: flavour, score: settings.scoring.score(evidence), scoring: settings.scoring,
      threshold: settings.threshold, reaction: settings.reaction, evidence: evidence, guards: guardNames,
      duration: .now - start)
  }
}

extension Integrity {
  /// Returns the guards of a flavour on this platform.
  ///
  /// A debug build has no guard that would find a debugger, hooks, a virtual machine, root or a changed program.
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

/// Why integrity could not be evaluated, or an operation was refused.
@nonexhaustive public enum IntegrityFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The list of guards is empty: no guard could find anything, so the score would be meaningless.
  case noGuards
  /// Two guards have this name.
  case duplicateGuard(String)
  /// The threshold is not above 0 and at most 1: every device would reach 0, and none more than 1.
  case thresholdOutOfRange(Double)
  /// A weight is outside of 0 to 1.
  case weightOutOfRange(name: String, Double)
  /// A member of the settings is invalid; the text names the allowed values.
  case settings(member: String, String)
  /// The score reaches the threshold, and the operation is refused.
  case tampered(IntegrityReport)

  /// The cause and the remedy.
  public var description: String {
    switch self {
    case .noGuards: "there are no guards; name at least one, or use the standard ones"
    case .duplicateGuard(let name): "two guards are called \(name); give each a name of its own"
    case .thresholdOutOfRange(let threshold): "the threshold is \(threshold); use one above 0 and up to 1"
    case .weightOutOfRange(let name, let weight): "the weight of \(name) is \(weight); use 0 to 1"
    case .settings(let member, let reason): "\"\(member)\" \(reason)"
    case .tampered(let report): report.refusal
    }
  }
}
