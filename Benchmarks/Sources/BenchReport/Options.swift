import Foundation

/// What the command line says.
package struct Options: Sendable {
  /// Where the JSON goes.
  package var output = ".build/bench.json"
  /// Where the peers' programs are.
  package var peers = ".build/bench-peers"
  /// A folder on a real disk in which databases are made.
  package var work = ".build"
  /// A tenth of the rounds, to see that everything runs.
  package var isQuick = false
  /// Whether the exit status is 0 where goals are missed.
  package var allowsMissed = false
  /// The commit that is measured.
  package var commit = "unknown"
  /// What the compiler was told.
  package var flags = "unknown"
  /// Which groups of measurements run; all when empty.
  package var only: Set<String> = []

  /// What there is to say.
  package static let usage =
    """
    usage: signet-bench [--quick] [--allow-missed] [--only jose,codes,policies,vault,tpm,device,server,live,approvals,uaf,integrity]
      [--output FILE] [--peers DIR] [--work DIR] [--commit TEXT] [--flags TEXT]
    """

  /// A word that is no option, or an option without its value.
  package struct UsageFailure: Error {
    /// Nothing more is said: the program prints `usage`.
    package init() {}
  }

  /// Reads the words after the program's name.
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

  /// Whether a group of measurements is asked for.
  package func runs(_ group: String) -> Bool { only.isEmpty || only.contains(group) }

  /// A number of repetitions.
  package func times(_ count: Int) -> Int { isQuick ? max(3, count / 10) : count }
}
