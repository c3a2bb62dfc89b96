import Foundation
package import SignetLinux
package import SignetTestKit

/// A private system bus: a real `dbus-daemon` with a socket in a private folder.
package final class PrivateBus: Sendable {
  /// Indicates whether there is a `dbus-daemon`; in CI there must be.
  package static let isPossible =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")
    || ContinuousIntegration.isHere

  /// The folder for its socket, and for the files of its services.
  package let folder: TemporaryFolder
  /// The address on which it listens.
  package let address: String
  private let daemon: Daemon

  /// Starts the bus and returns when it listens.
  ///
  /// - Throws: ``Failure``, or errors of Foundation.
  package init() throws {
    // Users other than root must reach the socket.
    folder = try TemporaryFolder(mode: 0o755)
    // The same name as in the system bus's folder, so that this folder can replace that one in a namespace.
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
    // It prints its address when it listens, and nothing if it cannot.
    let said = pipe.fileHandleForReading.availableData
    try pipe.fileHandleForReading.close()
    guard !said.isEmpty else { throw Failure.noBus(daemon.said) }
  }

  /// Kills the bus.
  package func kill() { daemon.kill() }

  /// Starts a service and waits until it has its name on this bus.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: Its arguments.
  ///   - environment: Variables in addition to the test's own and the address of the bus.
  ///   - name: The name on the bus.
  /// - Returns: The service, which ends with the value.
  /// - Throws: ``Failure``, or errors of Foundation.
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
        // A busy machine takes longer; a service that has ended never gets its name.
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

  /// The failure to start the bus, or a service on it.
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
