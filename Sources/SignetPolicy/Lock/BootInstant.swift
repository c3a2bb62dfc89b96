/// The identity of one run of the operating system, from start to stop.
public struct BootID: Sendable, Hashable {
  /// The length of ``bytes``.
  public static let byteCount = 16

  private let high: UInt64
  private let low: UInt64

  /// An identity as the operating system gives it, such as `/proc/sys/kernel/random/boot_id` on Linux.
  ///
  /// - Parameter bytes: 16 bytes; `nil` is returned for any other number.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// An identity as two halves, the first bytes in `high`.
  ///
  /// - Parameters:
  ///   - high: The first 8 bytes, big-endian.
  ///   - low: The last 8 bytes, big-endian.
  public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// The 16 bytes.
  public var bytes: [UInt8] {
    [high, low].flatMap { half in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) }
    }
  }
}

/// A moment that no wall clock can move: which run of the operating system, and how long it has lasted.
///
/// The time passes while the machine sleeps (`CLOCK_BOOTTIME` on Linux). Moments of two runs cannot be compared,
/// because nothing that can be trusted says how long the machine was off.
public struct BootInstant: Sendable, Hashable {
  /// Which run.
  public let bootID: BootID

  /// Milliseconds since the run began, 0 or more.
  public let millisecondsSinceBoot: Int64

  /// A moment.
  ///
  /// - Parameters:
  ///   - bootID: Which run of the operating system.
  ///   - millisecondsSinceBoot: How long it has lasted; a negative number counts as 0.
  public init(bootID: BootID, millisecondsSinceBoot: Int64) {
    self.bootID = bootID
    self.millisecondsSinceBoot = max(0, millisecondsSinceBoot)
  }

  /// Milliseconds that have certainly passed since an earlier moment.
  ///
  /// - Parameter earlier: The earlier moment; `nil` where nobody knows it.
  /// - Returns: The difference within one run, 0 if `earlier` is in the future. Where `earlier` is of another run or
  ///   unknown, the time since the start of this run: at least so much has passed.
  public func milliseconds(since earlier: BootInstant?) -> Int64 {
    guard let earlier, earlier.bootID == bootID else { return millisecondsSinceBoot }
    return max(0, millisecondsSinceBoot - earlier.millisecondsSinceBoot)
  }
}
