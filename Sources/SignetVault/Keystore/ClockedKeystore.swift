public import SignetPolicy

/// A keystore with a clock of its own, which programs cannot turn.
///
/// A vault lets waits go by it, as well as it goes: whoever starts the program where the system's clock says something else
/// shortens none.
public protocol ClockedKeystore: HardwareKeystore {
  /// The time since the hardware was started.
  ///
  /// - Throws: ``KeystoreFailure``.
  func time() throws(KeystoreFailure) -> HardwareTime
}

/// A moment by the clock of hardware.
public struct HardwareTime: Sendable, Hashable {
  /// What tells this run of the hardware from others: how often it was started, by its own count.
  public let startCount: UInt64
  /// Since the hardware was started.
  public let milliseconds: UInt64

  /// Names both.
  public init(startCount: UInt64, milliseconds: UInt64) {
    (self.startCount, self.milliseconds) = (startCount, milliseconds)
  }

  /// The same as the time since a boot, for the policies of waits.
  public var bootInstant: BootInstant {
    BootInstant(
      bootID: BootID(high: 0x5349_474E_4554_5450, low: startCount),  // SIGNETTP
      millisecondsSinceBoot: Int64(clamping: milliseconds))
  }
}

extension Vault {
  /// The time by which waits go: the hardware's own where it has a clock, else the system's.
  func waitInstant() throws(KeystoreFailure) -> BootInstant {
    guard let clocked = keystore as? any ClockedKeystore else { return moment.boot }
    return try clocked.time().bootInstant
  }

  /// The same, for telling about waits and not for counting: hardware that does not answer says that no time has passed.
  var waitInstantToTell: BootInstant {
    do throws(KeystoreFailure) { return try waitInstant() } catch {
      return HardwareTime(startCount: 0, milliseconds: 0).bootInstant
    }
  }
}
