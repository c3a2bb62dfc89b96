import Foundation

/// How often the kill tests kill, each of them: `SIGNET_KILLS` times, which is what `make kill-test` sets, and else a few times.
enum KillRounds {
  static let count = ProcessInfo.processInfo.environment["SIGNET_KILLS"].flatMap { Int($0) } ?? 3
}
