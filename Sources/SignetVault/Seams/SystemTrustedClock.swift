import SignetPolicy

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The clocks of this machine.
///
/// On Linux: `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`, the kernel's boot id, and `CLOCK_REALTIME`. On Apple's systems:
/// `CLOCK_MONOTONIC_RAW` and `CLOCK_UPTIME_RAW`, `kern.bootsessionuuid`, and `CLOCK_REALTIME`.
///
/// Setting the wall clock changes none of the others. A user who can start the program in new namespaces can change its time
/// since boot and its boot id; many systems allow this to every user. An operator of the virtual machine can restore an
/// older state of it. `docs/threat-model.md` describes the consequences.
public struct SystemTrustedClock: TrustedClock {
  private let bootID: BootID

  /// Reads the boot id, which is constant while the process runs.
  ///
  /// - Throws: ``ClockFailure``.
  public init() throws(ClockFailure) {
    #if canImport(Darwin)
      let name = "kern.bootsessionuuid"
      var content = [UInt8](repeating: 0, count: 64)
      var length = content.count
      guard sysctlbyname(name, &content, &length, nil, 0) == 0 else { throw .bootIDMissing(path: name) }
      // The length of the C string includes the zero at its end.
      guard let bootID = Self.bootID(in: Data(content.prefix(length).prefix { $0 != 0 })) else {
        throw .bootIDMalformed(path: name)
      }
      self.bootID = bootID
    #else
      try self.init(bootIDPath: "/proc/sys/kernel/random/boot_id")
    #endif
  }

  /// Reads the boot id from another file, for tests.
  ///
  /// - Parameter bootIDPath: A file with a UUID in the Linux kernel's form.
  /// - Throws: ``ClockFailure``.
  package init(bootIDPath: String) throws(ClockFailure) {
    let content: Data
    do { content = try Data(contentsOf: URL(filePath: bootIDPath)) } catch {
      throw .bootIDMissing(path: bootIDPath)
    }
    guard let bootID = Self.bootID(in: content) else { throw .bootIDMalformed(path: bootIDPath) }
    self.bootID = bootID
  }

  /// The time now.
  public var now: TrustedTime {
    // The awake clock is read first: a delay between the two readings then looks like sleep, and never like negative sleep.
    let awake = Self.nanoseconds(Self.awakeClock)
    let boot = Self.nanoseconds(Self.bootClock)
    let wall = Self.nanoseconds(CLOCK_REALTIME)
    return TrustedTime(
      boot: BootInstant(bootID: bootID, millisecondsSinceBoot: boot / 1_000_000),
      millisecondsAwake: awake / 1_000_000, wallSeconds: wall / 1_000_000_000)
  }

  #if canImport(Darwin)
    private static let bootClock = CLOCK_MONOTONIC_RAW
    private static let awakeClock = CLOCK_UPTIME_RAW
  #else
    private static let bootClock = CLOCK_BOOTTIME
    private static let awakeClock = CLOCK_MONOTONIC
  #endif

  /// 36 characters in the form of RFC 9562, then at most a newline.
  private static func bootID(in content: Data) -> BootID? {
    guard let text = String(data: content, encoding: .utf8) else { return nil }
    let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
    guard line.utf8.count == 36, let uuid = UUID(uuidString: line) else { return nil }
    return withUnsafeBytes(of: uuid.uuid) { BootID(bytes: Array($0)) }
  }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    let code = clock_gettime(clock, &time)
    precondition(code == 0, "the system has had this clock for longer than it has been supported")
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// The reason why there is no clock that can be trusted.
@nonexhaustive public enum ClockFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kernel's boot id cannot be read.
  case bootIDMissing(path: String)
  /// The content of the file is not a boot id.
  case bootIDMalformed(path: String)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .bootIDMissing(let path): "the kernel's boot id (\(path)) cannot be read; is /proc mounted?"
    case .bootIDMalformed(let path):
      "the kernel's boot id (\(path)) is malformed; is something else mounted there?"
    }
  }
}
