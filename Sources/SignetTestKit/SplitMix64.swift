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
