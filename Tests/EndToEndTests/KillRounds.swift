import Foundation
import Testing

/// How often each kill test kills: `SIGNET_KILLS` times, which `make kill-test` sets, and else a few times.
enum KillRounds {
  private static let wanted = ProcessInfo.processInfo.environment["SIGNET_KILLS"].flatMap { Int($0) }

  static let count = wanted ?? 4

  /// How long so many may take on a busy machine.
  static let timeLimit: TimeLimitTrait.Duration = .minutes(5 + count)

  /// At which of its steps a program is killed: the first, the last and a few between; all where `SIGNET_KILLS` is set.
  static func steps(of total: Int, using random: inout SeededRandom) -> [Int] {
    guard wanted == nil, total > count else { return Array(1...max(total, 1)) }
    return ([1, total] + (2..<total).shuffled(using: &random).prefix(count - 2)).sorted()
  }
}
