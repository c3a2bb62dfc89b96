import Foundation
public import SignetCrypto
import Synchronization

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

/// A reproducible pseudorandom generator: for tests, never for keys.
///
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (<https://prng.di.unimi.it/splitmix64.c>).
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates the sequence of a seed.
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  /// Returns the next number modulo a bound.
  package mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Pseudorandom bytes that are the same in every run: for tests that compare output, never for keys.
public final class SeededRandomSource: RandomSource {
  private let state: Mutex<UInt64>

  /// Creates the sequence of a seed.
  public init(seed: UInt64) { state = Mutex(seed) }

  /// Returns the next bytes: SHA-256 over the seed plus a counter.
  public func bytes(_ count: Int) -> [UInt8] {
    var output: [UInt8] = []
    while output.count < count {
      let block = state.withLock { state -> UInt64 in
        state &+= 0x9E37_79B9_7F4A_7C15
        return state
      }
      output += HashFunction.sha256.digest(of: (0..<8).map { UInt8(truncatingIfNeeded: block >> ($0 * 8)) })
    }
    return Array(output.prefix(count))
  }
}
