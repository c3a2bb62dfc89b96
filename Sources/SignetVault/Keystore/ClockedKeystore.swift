public import SignetPolicy

/// A keystore with its own clock, which programs cannot set.
///
/// A vault measures waits by this clock, so starting the program with a changed system clock shortens no wait.
public protocol ClockedKeystore: HardwareKeystore {
  /// The time since the hardware was started.
  ///
  /// - Throws: ``KeystoreFailure``.
  func time() throws(KeystoreFailure) -> HardwareTime
}

/// A time on the hardware's clock.
public struct HardwareTime: Sendable, Hashable {
  /// The hardware's own count of its starts; it distinguishes this run from others.
  public let startCount: UInt64
  /// Milliseconds since the hardware was started.
  public let milliseconds: UInt64

  /// Creates a time from both values.
  public init(startCount: UInt64, milliseconds: UInt64) {
    (self.startCount, self.milliseconds) = (startCount, milliseconds)
  }

  /// This time as time since boot, for wait policies.
  public var bootInstant: BootInstant {
    BootInstant(
      bootID: BootID(high: 0x5349_474E_4554_5450, low: startCount),  // SIGNETTP
      millisecondsSinceBoot: Int64(clamping: milliseconds))
  }
}

extension Vault {
  /// The time for waits: the hardware's clock if it has one, otherwise the system's.
  func waitInstant() throws(KeystoreFailure) -> BootInstant {
    guard let clocked = keystore as? any ClockedKeystore else { return moment.boot }
    return try clocked.time().bootInstant
  }

  /// The time for displaying waits, not for counting: if the hardware does not answer, no time has passed.
  var waitInstantForDisplay: BootInstant {
    do throws(KeystoreFailure) { return try waitInstant() } catch {
      return HardwareTime(startCount: 0, milliseconds: 0).bootInstant
    }
  }
}
