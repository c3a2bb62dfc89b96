import Foundation
import SignetPolicy

/// The clock of a Linux system: `CLOCK_BOOTTIME`, the kernel's boot id, and `CLOCK_REALTIME`.
///
/// Turning the wall clock moves neither of the first two. Whoever can start the program in namespaces of their own can
/// give it another time since boot and another boot id, which many systems allow every user; whoever runs the virtual
/// machine can put an older state of it back. `docs/threat-model.md` says what that means.
public struct SystemTrustedClock: TrustedClock {
  private let bootID: BootID

  /// Reads the boot id, which stays the same as long as the process runs.
  ///
  /// - Throws: ``ClockFailure``.
  public init() throws(ClockFailure) { try self.init(bootIDPath: "/proc/sys/kernel/random/boot_id") }

  /// Reads the boot id from somewhere else: for tests.
  ///
  /// - Parameter bootIDPath: A file with a UUID in it, as the kernel writes it.
  /// - Throws: ``ClockFailure``.
  package init(bootIDPath: String) throws(ClockFailure) {
    let content: Data
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: bootIDPath))
      defer { try? file.close() }  // opened for reading: closing loses nothing
      content = try file.read(upToCount: 64) ?? Data()
    } catch { throw .bootIDMissing(path: bootIDPath) }
    guard let bootID = Self.bootID(in: content) else { throw .bootIDMalformed(path: bootIDPath) }
    self.bootID = bootID
  }

  /// The time now.
  public var now: TrustedTime {
    let boot = Self.read(CLOCK_BOOTTIME)
    let wall = Self.read(CLOCK_REALTIME)
    let milliseconds = Int64(boot.tv_sec) * 1_000 + Int64(boot.tv_nsec) / 1_000_000
    return TrustedTime(
      boot: BootInstant(bootID: bootID, millisecondsSinceBoot: milliseconds), wallSeconds: Int64(wall.tv_sec))
  }

  /// 36 characters in the form of RFC 9562, then at most a newline.
  private static func bootID(in content: Data) -> BootID? {
    guard let text = String(data: content, encoding: .utf8) else { return nil }
    let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
    guard line.utf8.count == 36, let uuid = UUID(uuidString: line) else { return nil }
    return withUnsafeBytes(of: uuid.uuid) { BootID(bytes: Array($0)) }
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    let code = clock_gettime(clock, &time)
    precondition(code == 0, "Linux has this clock since 2.6.39")
    return time
  }
}

/// Why there is no clock that can be trusted.
@nonexhaustive public enum ClockFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kernel's boot id cannot be read.
  case bootIDMissing(path: String)
  /// What should be the kernel's boot id is something else.
  case bootIDMalformed(path: String)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .bootIDMissing(let path): "the kernel's boot id (\(path)) cannot be read; is /proc mounted?"
    case .bootIDMalformed(let path):
      "the kernel's boot id (\(path)) is none; is something else mounted there?"
    }
  }
}
