import Foundation

/// The options of the command line.
package struct Options: Sendable {
  /// The path of the JSON report.
  package var output = ".build/bench.json"
  /// The folder of the peers' programs.
  package var peers = ".build/bench-peers"
  /// The folder for databases, on a real disk.
  package var work = ".build"
  /// Runs a tenth of the rounds, to check that everything works.
  package var isQuick = false
  /// Indicates whether the exit status is 0 despite missed goals.
  package var allowsMissed = false
  /// The measured commit.
  package var commit = "unknown"
  /// The compiler's flags.
  package var flags = "unknown"
  /// The groups of measurements to run; all if empty.
  package var only: Set<String> = []

  /// The usage message.
  package static let usage =
    """
    usage: signet-bench [--quick] [--allow-missed] [--only jose,codes,policies,vault,tpm,device,server,live,approvals,uaf,integrity]
      [--output FILE] [--peers DIR] [--work DIR] [--commit TEXT] [--flags TEXT]
    """

  /// An unknown word, or an option without its value.
  package struct UsageFailure: Error {
    /// Creates the failure; the program prints `usage`.
    package init() {}
  }

  /// Parses the words after the program's name.
  package init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--allow-missed": allowsMissed = true
      case "--commit": commit = try Self.value(&rest)
      case "--flags": flags = try Self.value(&rest)
      case "--only": only = Set(try Self.value(&rest).split(separator: ",").map(String.init))
      case "--output": output = try Self.value(&rest)
      case "--peers": peers = try Self.value(&rest)
      case "--work": work = try Self.value(&rest)
      default: throw UsageFailure()
      }
    }
  }

  private static func value(_ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw UsageFailure() }
    return value
  }

  /// Returns whether a group of measurements was requested.
  package func runs(_ group: String) -> Bool { only.isEmpty || only.contains(group) }

  /// Returns the number of repetitions; a tenth for a quick run.
  package func times(_ count: Int) -> Int { isQuick ? max(3, count / 10) : count }
}
