public import SignetCrypto
import Synchronization

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
