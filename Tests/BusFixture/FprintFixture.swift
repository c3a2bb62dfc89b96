import Foundation
package import SignetLinux
import SignetTestKit

/// A real fprintd and a real polkitd on a private bus, and libfprint's virtual reader, to which the test presents fingers.
///
/// polkitd's own rule allows root everything, so these tests run as root.
package final class FprintFixture: Sendable {
  /// Indicates whether this process may start the services; in CI it must.
  package static let isPossible =
    geteuid() == 0 || ContinuousIntegration.isHere

  private static let name = "net.reactivated.Fprint"
  private static let device = "net.reactivated.Fprint.Device"
  private static let path = "/net/reactivated/Fprint/Device/0"

  /// The bus of the services.
  package let bus: PrivateBus
  /// The service.
  package let fprintd: Daemon
  private let polkitd: Daemon
  private let socket: String

  /// Starts all services.
  ///
  /// - Parameter hasReader: Whether there is a reader, which stores its prints itself, like most current ones.
  /// - Throws: The error that prevents a start.
  package init(hasReader: Bool = true) async throws {
    bus = try PrivateBus()
    socket = bus.folder.file("finger")
    let state = bus.folder.file("prints")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
    polkitd = try await bus.start("/usr/lib/polkit-1/polkitd", name: "org.freedesktop.PolicyKit1")
    let reader = hasReader ? ["FP_VIRTUAL_DEVICE_STORAGE": socket] : [:]
    fprintd = try await bus.start(
      "/usr/libexec/fprintd", ["--no-timeout"],
      environment: reader.merging(["STATE_DIRECTORY": state, "G_MESSAGES_DEBUG": "all"]) { mine, _ in mine },
      name: Self.name)
    if hasReader {
      try await claimed { [self] bus throws(BusFailure) in
        // The socket stays open while the reader is unclaimed; one scan enrols.
        finger("SET_KEEP_ALIVE 1", "SET_ENROLL_STAGES 1")
      }
    }
  }

  /// Sends the next events of the reader in order; see `virtual-device.c` of libfprint.
  package func finger(_ commands: String...) { send(commands) }

  /// Sets the events of the next match.
  package func next(_ touches: Touch...) {
    // fprintd opens the reader first, which consumes one command that is not a scan.
    send([Touch.list] + touches.flatMap(\.commands))
  }

  /// Presents touches in a match that has begun.
  ///
  /// The virtual reader drops a finger that comes while it lists its prints, and takes any command as a finger while it waits for
  /// one. So a finger waits until fprintd reports that it needs one. A list is answered only if fprintd asked for it, as it does
  /// after some mismatches.
  ///
  /// - Throws: ``Failure/notReady``, or errors of the bus.
  package func now(_ touches: Touch...) async throws {
    for touch in touches {
      try await awaitMatch()
      let before = fprintd.said.utf8.count
      for command in touch.commands {
        if command == Touch.list {
          try await until("the end of a mismatch", { self.isPastMismatch(since: before) })
          guard isListing(since: before) else { continue }
        }
        VirtualFinger.send(command, to: socket)
      }
    }
  }

  /// Waits until a match has begun and needs a finger.
  ///
  /// fprintd 1.94 ends itself if a client leaves after one match is stopped and before the next has begun.
  package func awaitMatch() async throws {
    try await until("a finger is needed", { try await self.isFingerNeeded() })
  }

  /// Waits until the reader is free: fprintd releases it when it learns that its client has ended.
  package func awaitRelease() async throws {
    try await until("nobody holds the reader") {
      do {
        try await self.claimed { _ in }
        return true
      } catch BusFailure.refused(name: "net.reactivated.Fprint.Error.AlreadyInUse", message: _) {
        return false
      }
    }
  }

  private func isFingerNeeded() async throws -> Bool {
    try await bus.run { bus throws(BusFailure) in
      let body = try bus.call(
        BusCall(
          Self.name, Self.path, "org.freedesktop.DBus.Properties", "Get", .text(Self.device),
          .text("finger-needed")))
      return body.first?.flag == true
    }
  }

  /// The output of fprintd after a mismatch.
  private func afterMismatch(since start: Int) -> Substring? {
    let said = fprintd.said.utf8.dropFirst(start)
    let news = String(decoding: said, as: UTF8.self)
    return news.range(of: "_cb: result verify-no-match").map { news[$0.upperBound...] }
  }

  private func isListing(since start: Int) -> Bool {
    afterMismatch(since: start)?.contains("verifying local storage") == true
  }

  private func isPastMismatch(since start: Int) -> Bool {
    isListing(since: start) || afterMismatch(since: start)?.contains("Requesting authorization") == true
  }

  private func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    while try await !condition() {
      // The time limit is that of the test, which cancels it.
      do { try await Task.sleep(for: .milliseconds(2)) } catch {
        throw Failure.notReady(what, fprintd.said)
      }
    }
  }

  private func send(_ commands: [String]) {
    for command in commands { VirtualFinger.send(command, to: socket) }
  }

  /// An event at the reader.
  package enum Touch: Sendable {
    /// A finger with this print.
    case finger(String)
    /// A finger that is not enrolled.
    case stranger
    /// An unreadable finger, by the number of `FpDeviceRetry`.
    case unreadable(Int)
    /// A failure of the reader, by the number of `FpDeviceError`.
    case error(Int)

    /// Lets the reader continue with the list that fprintd asked for.
    fileprivate static let list = "CONT "

    fileprivate var commands: [String] {
      switch self {
      case .finger(let print): ["SCAN \(print)"]
      // After a mismatch fprintd may list the stored prints, which consumes another command.
      case .stranger: ["SCAN nobody's", Self.list]
      case .unreadable(let code): ["RETRY \(code)"]
      case .error(let code): ["ERROR \(code)"]
      }
    }
  }

  /// Errors of the fixture.
  package enum Failure: Error {
    /// The service did not enrol the finger.
    case notEnrolled(String, String)
    /// fprintd did not reach the state before the test was cancelled; with its output.
    case notReady(String, String)
  }

  /// Enrols a finger, as the system's settings would.
  ///
  /// - Parameters:
  ///   - finger: Its name.
  ///   - print: Its print for the reader.
  /// - Throws: ``Failure``, or errors of the bus.
  package func enrol(_ finger: String, as print: String) async throws {
    let status = try await claimed { [self] bus throws(BusFailure) in
      let owner = try bus.owner(of: Self.name) ?? ""
      try bus.watch(BusWatch(sender: owner, interface: Self.device, member: "EnrollStatus"))
      // Once for the check whether it is enrolled already, once to enrol it.
      self.finger("SCAN \(print)", "SCAN \(print)")
      try bus.call(BusCall(Self.name, Self.path, Self.device, "EnrollStart", .text(finger)))
      var status = ""
      repeat {
        let event = try bus.event(until: .now + .seconds(600))
        status = event.body.first?.text ?? ""
      } while status == "enroll-stage-passed"
      try bus.call(BusCall(Self.name, Self.path, Self.device, "EnrollStop"))
      return status
    }
    guard status == "enroll-completed" else { throw Failure.notEnrolled(status, fprintd.said) }
  }

  /// Deletes an enrolled finger.
  package func delete(_ finger: String) async throws {
    try await claimed { bus throws(BusFailure) in
      try bus.call(BusCall(Self.name, Self.path, Self.device, "DeleteEnrolledFinger", .text(finger)))
    }
  }

  /// Lends a connection that has claimed the reader.
  @discardableResult package func claimed<Value: Sendable>(
    _ body: @escaping @Sendable (inout BusConnection) throws(BusFailure) -> Value
  ) async throws(BusFailure) -> Value {
    try await bus.run { bus throws(BusFailure) -> Value in
      try bus.call(BusCall(Self.name, Self.path, Self.device, "Claim", .text("")))
      let value = try body(&bus)
      try bus.call(BusCall(Self.name, Self.path, Self.device, "Release"))
      return value
    }
  }
}

/// The socket of libfprint's virtual reader.
enum VirtualFinger {
  /// Sends one command and waits until the reader has received it.
  static func send(_ command: String, to path: String) {
    let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    precondition(connected == 0, "the reader does not listen: \(errno)")
    _ = command.withCString { write(descriptor, $0, strlen($0)) }
    var rest = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &rest, rest.count) > 0 {}
  }
}
