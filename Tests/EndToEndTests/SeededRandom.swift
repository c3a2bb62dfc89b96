import Foundation
import SignetTestKit

/// Random numbers that can be had again: their seed is printed.
struct SeededRandom: RandomNumberGenerator {
  private var numbers: SplitMix64

  /// Starts from the number in the environment's `SIGNET_KILL_SEED`, or from a fresh one, and prints it.
  init(test: String) {
    let given = ProcessInfo.processInfo.environment["SIGNET_KILL_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0 ... .max)
    numbers = SplitMix64(seed: seed)
    print("\(test): repeat with SIGNET_KILL_SEED=\(seed)")
  }

  mutating func next() -> UInt64 { numbers.next() }
}
