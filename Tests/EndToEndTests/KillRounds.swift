import SignetTestKit
import Testing

/// The number of kills of each kill test: ``KillCount/wanted``, or a few.
enum KillRounds {
  static let count = KillCount.wanted ?? 3

  /// The number for tests with long rounds that kill in each step: one, or the same as for others in a long run.
  static let longCount = KillCount.wanted ?? 1

  /// The number for tests whose rounds kill one of two sides, so that each side is killed once.
  static let pairCount = KillCount.wanted ?? 2

  /// The number of rounds of a test that repeats a race without kills; `make test` has `few`.
  static func races(_ few: Int) -> Int { KillCount.wanted ?? few }

  /// The time limit for that many rounds on a busy machine.
  static let timeLimit: TimeLimitTrait.Duration = .minutes(5 + count)

  /// The steps at which a program is killed: the first, the last and a few between; all with `SIGNET_KILLS`.
  static func steps(of total: Int, using random: inout SeededRandom) throws -> [Int] {
    try #require(total > 0, "no step was counted")
    guard KillCount.wanted == nil, total > count else { return Array(1...total) }
    return ([1, total] + (2..<total).shuffled(using: &random).prefix(count - 2)).sorted()
  }
}
