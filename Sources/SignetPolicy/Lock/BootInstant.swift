/// The identity of one run of the operating system, from start to stop.
public struct BootID: Sendable, Hashable {
  /// The length of ``bytes``.
  public static let byteCount = 16

  private let high: UInt64
  private let low: UInt64

  /// Creates an identity from the operating system's bytes, such as `/proc/sys/kernel/random/boot_id` on Linux.
  ///
  /// - Parameter bytes: 16 bytes; `nil` is returned for any other number.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Creates an identity from two halves.
  ///
  /// - Parameters:
  ///   - high: The first 8 bytes, big-endian.
  ///   - low: The last 8 bytes, big-endian.
  public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// The 16 bytes, those of the high half first.
  public var bytes: [UInt8] {
    [high, low].flatMap { half in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) }
    }
  }
}

/// A moment that does not depend on the wall clock: a run of the operating system and the time since its start.
///
/// The time also counts while the machine sleeps (`CLOCK_BOOTTIME` on Linux). Moments of two runs cannot be compared: no
/// trusted source says how long the machine was off.
public struct BootInstant: Sendable, Hashable {
  /// The run of the operating system.
  public let bootID: BootID

  /// Milliseconds since the run began, 0 or more.
  public let millisecondsSinceBoot: Int64

  /// Creates a moment.
  ///
  /// - Parameters:
  ///   - bootID: The run of the operating system.
  ///   - millisecondsSinceBoot: Milliseconds since the run began; a negative number counts as 0.
  public init(bootID: BootID, millisecondsSinceBoot: Int64) {
    self.bootID = bootID
    self.millisecondsSinceBoot = max(0, millisecondsSinceBoot)
  }

  /// Returns the milliseconds that have certainly passed since an earlier moment.
  ///
  /// - Parameter earlier: The earlier moment; `nil` if unknown.
  /// - Returns: The difference within one run, 0 if `earlier` is in the future. If `earlier` is unknown or of another run,
  ///   the time since the start of this run: at least that much has passed.
  public func milliseconds(since earlier: BootInstant?) -> Int64 {
    guard let earlier, earlier.bootID == bootID else { return millisecondsSinceBoot }
    return max(0, millisecondsSinceBoot - earlier.millisecondsSinceBoot)
  }
}
