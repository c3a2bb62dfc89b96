import SignetTestKit
import Testing

/// How often each kill test kills: ``KillCount/wanted`` times, and else a few times.
enum KillRounds {
  static let count = KillCount.wanted ?? 3

  /// The same for a test whose rounds are long, and kill in each of their steps: once, and as often as the others in a long run.
  static let longCount = KillCount.wanted ?? 1

  /// The same for a test whose rounds kill one of two: each of them once.
  static let pairCount = KillCount.wanted ?? 2

  /// The rounds of a test that repeats a race without kills, where `make test` has `few`.
  static func races(_ few: Int) -> Int { KillCount.wanted ?? few }

  /// How long so many may take on a busy machine.
  static let timeLimit: TimeLimitTrait.Duration = .minutes(5 + count)

  /// At which of its steps a program is killed: the first, the last and a few between; all where `SIGNET_KILLS` is set.
  static func steps(of total: Int, using random: inout SeededRandom) throws -> [Int] {
    try #require(total > 0, "no step was counted")
    guard KillCount.wanted == nil, total > count else { return Array(1...total) }
    return ([1, total] + (2..<total).shuffled(using: &random).prefix(count - 2)).sorted()
  }
}
