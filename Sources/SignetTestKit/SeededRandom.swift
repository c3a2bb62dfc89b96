import Foundation

/// A reproducible random sequence of a test: its seed is printed.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  /// The start of the sequence.
  package let seed: UInt64
  private var numbers: SplitMix64

  /// Starts a test's sequence, and prints its seed.
  ///
  /// The environment variable `SIGNET_SEED` sets the seed. Without it the seed is random if `SIGNET_KILLS` asks for a long
  /// run. Otherwise it is derived from the test's name and the same in each run.
  package init(test: String) {
    self.init(
      test: test, environment: ProcessInfo.processInfo.environment, fresh: { .random(in: 0 ... .max) })
    print("\(test): repeat with SIGNET_SEED=\(seed)")
  }

  package init(test: String, environment: [String: String], fresh: () -> UInt64) {
    if let text = environment["SIGNET_SEED"] {
      guard let number = UInt64(text) else { preconditionFailure("SIGNET_SEED is a number of 64 bits") }
      seed = number
    } else if environment["SIGNET_KILLS"] != nil {
      seed = fresh()
    } else {
      // The hash is FNV-1a (draft-eastlake-fnv).
      seed = test.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
    numbers = SplitMix64(seed: seed)
  }

  package mutating func next() -> UInt64 { numbers.next() }
}
