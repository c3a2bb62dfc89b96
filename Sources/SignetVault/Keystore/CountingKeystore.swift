/// A keystore with counters that only increase, to detect files that were rolled back.
public protocol CountingKeystore: HardwareKeystore {
  /// Makes a counter.
  ///
  /// Its first value is not 0, and is higher than the value of any counter removed from the hardware before, by any program. So
  /// making a counter again cannot set it back. The counter occupies one of the hardware's few locations until ``discard(_:)``.
  ///
  /// - Returns: The blob that names the counter. Authenticate it, so that an attacker cannot replace it with another counter's
  ///   blob.
  /// - Throws: ``KeystoreFailure``: `full` if the hardware has no free location.
  func makeCounter() throws(KeystoreFailure) -> [UInt8]

  /// The value of a counter.
  ///
  /// - Throws: ``KeystoreFailure``: `countGone` if the counter was removed from the hardware.
  func counterValue(_ blob: [UInt8]) throws(KeystoreFailure) -> UInt64

  /// Advances a counter by one, durably.
  ///
  /// Each call wears the hardware and may block for some time, so count only rare events.
  ///
  /// - Throws: ``KeystoreFailure``: `countGone` if the counter was removed from the hardware.
  func advanceCounter(_ blob: [UInt8]) throws(KeystoreFailure)

  /// Removes a counter from the hardware.
  ///
  /// A second call does nothing.
  ///
  /// - Throws: ``KeystoreFailure``.
  func discard(_ blob: [UInt8]) throws(KeystoreFailure)
}
