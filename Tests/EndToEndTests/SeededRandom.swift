import Foundation

/// Random numbers that can be had again: SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// Starts from the number in the environment's `SIGNET_KILL_SEED`, or from a fresh one, and prints it.
  init(test: String) {
    let given = ProcessInfo.processInfo.environment["SIGNET_KILL_SEED"].flatMap { UInt64($0) }
    state = given ?? .random(in: 0 ... .max)
    print("\(test): repeat with SIGNET_KILL_SEED=\(state)")
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
