import Foundation
package import SignetDBus
package import SignetTestKit

/// A system bus of the test's own: a real `dbus-daemon` with a socket in a folder of its own.
package final class PrivateBus: Sendable {
  /// Whether there is a `dbus-daemon`; in CI its absence is a failure.
  package static let isPossible =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")
    || ContinuousIntegration.isHere

  /// For its socket, and for what others on the bus need to keep.
  package let folder: TemporaryFolder
  /// Where it listens.
  package let address: String
  private let daemon: Daemon

  /// Starts it; it listens when this returns.
  ///
  /// - Throws: ``Failure``, or what Foundation says.
  package init() throws {
    // Others than root have to reach the socket.
    folder = try TemporaryFolder(mode: 0o755)
    // The name that the system's bus has in its folder, so that this folder can take the other's place in a namespace.
    address = "unix:path=\(folder.file("system_bus_socket"))"
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>system</type>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow user="*"/>
          <allow own="*"/>
          <allow send_destination="*" eavesdrop="true"/>
          <allow receive_sender="*" eavesdrop="true"/>
        </policy>
      </busconfig>
      """
    try Data(configuration.utf8).write(to: URL(filePath: folder.file("bus.conf")))
    let pipe = Pipe()
    daemon = try Daemon(
      "/usr/bin/dbus-daemon",
      ["--config-file=\(folder.file("bus.conf"))", "--nofork", "--nopidfile", "--print-address=1"],
      folder: folder, output: pipe.fileHandleForWriting.fileDescriptor)
    try pipe.fileHandleForWriting.close()
    // It says its address when it listens, and nothing where it cannot.
    let said = pipe.fileHandleForReading.availableData
    try pipe.fileHandleForReading.close()
    guard !said.isEmpty else { throw Failure.noBus(daemon.said) }
  }

  /// Ends the bus the hard way.
  package func kill() { daemon.kill() }

  /// Starts a service and waits until it has its name on this bus.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: What comes after its name.
  ///   - environment: What it gets beside the test's own and the address of the bus.
  ///   - name: The name on the bus.
  /// - Returns: The service, which ends with the value.
  /// - Throws: ``Failure``, or what Foundation says.
  package func start(
    _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], name: String
  ) async throws -> Daemon {
    let service = try Daemon(
      path, arguments,
      environment: environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { mine, _ in mine },
      folder: folder)
    do {
      try await run { bus throws(BusFailure) in
        try bus.watch(
          BusWatch(
            sender: BusConnection.daemon, interface: BusConnection.daemon, member: "NameOwnerChanged",
            argument: name))
        if try bus.owner(of: name) != nil { return }
        // A machine under load takes its time; a service that ended never comes.
        _ = try bus.event(until: .now + .seconds(600))
      }
    } catch { throw Failure.notStarted(name, service.said) }
    return service
  }

  /// Lends a new connection to `body`, on a thread that may block.
  @discardableResult package func run<Value: Sendable>(
    _ body: @escaping @Sendable (inout BusConnection) throws(BusFailure) -> Value
  ) async throws(BusFailure) -> Value {
    let interruption = try Interruption()
    let address = address
    return try await interruption.run("signet.test.bus") { () throws(BusFailure) -> Value in
      var bus = try BusConnection(address, interruption: interruption)
      return try body(&bus)
    }
  }

  /// Why there is no bus, or no service on it.
  package enum Failure: Error, CustomStringConvertible {
    case noBus(String)
    case notStarted(String, String)

    package var description: String {
      switch self {
      case .noBus(let said): "dbus-daemon did not start: \(said)"
      case .notStarted(let name, let said): "\(name) did not start: \(said)"
      }
    }
  }
}
