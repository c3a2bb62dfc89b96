import SignetIntegrity
import SignetSystem

extension Doctor {
  /// Returns findings about the program: its build flavour, and tampering with it.
  static func program(_ report: IntegrityReport) -> [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    let reaction: TerminalText =
      "on tampering (score at least \(ours: report.threshold), \(ours: report.scoring.title)): \(ours: report.reaction.rawValue)"
    let isUnsigned = report.evidence.contains { $0.finding == .unsignedBuild }
    switch report.flavour {
    case .release where isUnsigned:
      diagnostics.append(
        Diagnostic(
          subject: "program", weight: .note,
          text:
            "a development build: it has no release key, so changes to it cannot be detected; \(reaction)",
          advice: "install a release build (make release, make install)"))
    case .release:
      diagnostics.append(Diagnostic(subject: "program", weight: .fine, text: "a release; \(reaction)"))
    case .debug:
      diagnostics.append(
        Diagnostic(
          subject: "program", weight: .note, text: "a debug build, which a server may refuse; \(reaction)",
          advice: "use a release build"))
    }
    if report.weighty.isEmpty {
      diagnostics.append(
        Diagnostic(
          subject: "integrity", weight: .fine, text: "no signs of tampering (\(report.guards.count) guards)"))
    }
    for piece in report.evidence where piece.finding != .unsignedBuild {
      diagnostics.append(
        Diagnostic(
          subject: "integrity", weight: piece.weight >= report.threshold ? .problem : .note,
          text: "\(piece.explanation) (\(piece.finding), \(ours: piece.weight) of 1)"))
    }
    return diagnostics
  }

  /// The finding about the moment from which other processes of the user cannot read the program.
  static var starts: [Diagnostic] {
    #if os(Linux)
      [start]
    #else
      []
    #endif
  }
}

extension Scoring {
  fileprivate var title: String {
    switch self {
    case .maximum: "highest weight of a sign"
    case .weightedSum: "sum of the weights of all signs"
    }
  }
}
