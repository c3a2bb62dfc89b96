/// A keystore with counters that only ever go up, to tell that files are older than they should be.
public protocol CountingKeystore: HardwareKeystore {
  /// Makes a counter.
  ///
  /// Its first value is not 0, and higher than that of any counter that was taken out of the hardware before, by whomever. So a
  /// counter cannot be set back by making it anew. It takes up a place in the hardware, of which there are few, until
  /// ``discard(_:)``.
  ///
  /// - Returns: The blob that names the counter, to be kept where nobody can exchange it for another's.
  /// - Throws: ``KeystoreFailure``: `full` if the hardware has no place left.
  func makeCounter() throws(KeystoreFailure) -> [UInt8]

  /// The value of a counter.
  ///
  /// - Throws: ``KeystoreFailure``: `countGone` if the counter was taken out of the hardware.
  func counterValue(_ blob: [UInt8]) throws(KeystoreFailure) -> UInt64

  /// Advances a counter by one, durably.
  ///
  /// The hardware wears with each call, and may make the caller wait: count what is rare.
  ///
  /// - Throws: ``KeystoreFailure``: `countGone` if the counter was taken out of the hardware.
  func advanceCounter(_ blob: [UInt8]) throws(KeystoreFailure)

  /// Takes a counter out of the hardware.
  ///
  /// Discarding twice does nothing.
  ///
  /// - Throws: ``KeystoreFailure``.
  func discard(_ blob: [UInt8]) throws(KeystoreFailure)
}
