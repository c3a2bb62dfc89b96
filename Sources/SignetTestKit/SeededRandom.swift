import Foundation

/// Random numbers of a test that can be had again: their seed is printed.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  /// Where the sequence started.
  package let seed: UInt64
  private var numbers: SplitMix64

  /// Starts a test's sequence, and prints its seed.
  ///
  /// The seed is the number in the environment's `SIGNET_SEED`. Without one it is a fresh number where `SIGNET_KILLS` asks for a long
  /// run, and elsewhere the same number in each run, made from the test's name.
  package init(test: String) {
    self.init(
      test: test, environment: ProcessInfo.processInfo.environment, fresh: { .random(in: 0 ... .max) })
    print("\(test): repeat with SIGNET_SEED=\(seed)")
  }

  package init(test: String, environment: [String: String], fresh: () -> UInt64) {
    if let text = environment["SIGNET_SEED"] {
      guard let given = UInt64(text) else { preconditionFailure("SIGNET_SEED is a number of 64 bits") }
      seed = given
    } else if environment["SIGNET_KILLS"] != nil {
      seed = fresh()
    } else {
      // FNV-1a (draft-eastlake-fnv).
      seed = test.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
    numbers = SplitMix64(seed: seed)
  }

  /// The next number.
  package mutating func next() -> UInt64 { numbers.next() }
}
