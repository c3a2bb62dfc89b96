import SignetSystem

/// The desktop's notifications (<https://specifications.freedesktop.org/notification-spec/1.2/>), on a thread that may block.
///
/// Only one notification is shown at a time: the next one replaces it. A notification is only a hint: if it cannot be shown within
/// a few seconds, it is omitted.
package actor DesktopNotifications {
  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  private static let limit: Duration = .seconds(5)

  private let address: String
  private let interruption: Interruption
  private let executor = BlockingExecutor(label: "signet.desktop")
  private var bus: BusConnection?
  private var service = ""
  private var capabilities: Set<String> = []
  /// The id of the shown notification; 0 if there is none.
  private var notificationID: UInt32 = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Creates notifications over a bus; the first notification connects to it.
  ///
  /// - Parameter address: The address of the session's bus.
  /// - Throws: ``BusFailure``.
  package init(at address: String) throws(BusFailure) {
    self.address = address
    interruption = try Interruption()
  }

  /// Returns the address of the session's bus; `nil` if there is none.
  ///
  /// Only local sockets are accepted: other forms of address start programs or connect to other machines.
  ///
  /// - Parameter environment: The environment's variables.
  /// - Returns: `DBUS_SESSION_BUS_ADDRESS`, or the bus in `XDG_RUNTIME_DIR`.
  package static func sessionAddress(_ environment: [String: String]) -> String? {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
      let parts = address.split(separator: ";")
      return parts.first { $0.hasPrefix("unix:path=") || $0.hasPrefix("unix:abstract=") }.map(String.init)
    }
    guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"),
      folder.utf8.allSatisfy({ isPlain($0) })
    else { return nil }
    return "unix:path=\(folder)/bus"
  }

  /// Returns true if a byte needs no escape in an address (D-Bus specification, "Server Addresses").
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-_/.".utf8.contains(byte)
    }
  }

  /// Shows a text; replaces the previous one.
  ///
  /// - Parameters:
  ///   - summary: One line.
  ///   - body: The text below it; it is shown literally, even if it contains markup.
  /// - Throws: ``BusFailure`` if it cannot be shown.
  package func show(_ summary: String, _ body: String) throws(BusFailure) {
    do throws(BusFailure) { try connect() } catch {
      bus = nil
      throw error
    }
    // A service with markup support would interpret `<`; a service without it shows all characters literally.
    let text = capabilities.contains("body-markup") ? MarkupText.escaped(body) : body
    let hasBody = capabilities.contains("body")
    do throws(BusFailure) {
      let answer = try bus?.call(
        BusCall(
          service, Self.path, Self.name, "Notify", .text("signet"), .unsigned(notificationID),
          .text("dialog-password"), .text(hasBody ? summary : "\(summary): \(body)"),
          .text(hasBody ? text : ""), .texts([]), .variants(["category": "x-signet.transaction"]),
          .integer(-1)), within: Self.limit)
      notificationID = UInt32(clamping: answer?.first?.number ?? 0)
    } catch {
      // The next notification connects again and looks up the service.
      bus = nil
      notificationID = 0
      throw error
    }
  }

  /// Closes the shown notification.
  ///
  /// - Throws: ``BusFailure``; no error if the user has already closed it.
  package func close() throws(BusFailure) {
    guard notificationID != 0, bus != nil else { return }
    let number = notificationID
    notificationID = 0
    do throws(BusFailure) {
      try bus?.call(
        BusCall(service, Self.path, Self.name, "CloseNotification", .unsigned(number)), within: Self.limit)
    } catch {
      guard case .refused = error else {
        bus = nil
        throw error
      }
    }
  }

  private func connect() throws(BusFailure) {
    guard bus == nil else { return }
    var bus = try BusConnection(address, interruption: interruption)
    guard let service = try bus.owner(of: Self.name) else {
      throw .refused(
        name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "there is no notification service")
    }
    let answer = try bus.call(
      BusCall(service, Self.path, Self.name, "GetCapabilities"), within: Self.limit)
    capabilities = Set(answer.first?.texts ?? [])
    self.service = service
    self.bus = consume bus
    notificationID = 0
  }
}
