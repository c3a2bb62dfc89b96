import SignetConcurrency
package import SignetDBus
import SignetText

/// The desktop's notifications (<https://specifications.freedesktop.org/notification-spec/1.2/>), on a thread that may block.
///
/// One notification is shown at a time: the next one takes its place. A notification is a hint and nothing more: where it
/// can't be shown in a few seconds it is left out.
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
  /// The notification that is shown; 0 for none.
  private var shown: UInt32 = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Notifications over a bus; it is connected to when there is something to show.
  ///
  /// - Parameter address: The address of the session's bus.
  /// - Throws: ``BusFailure``.
  package init(at address: String) throws(BusFailure) {
    self.address = address
    interruption = try Interruption()
  }

  /// The address of the session's bus; `nil` where there is none.
  ///
  /// Only sockets of this machine are taken: other forms of address start programs, or go to other machines.
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

  /// Whether a byte stands for itself in an address (D-Bus specification, "Server Addresses").
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-_/.".utf8.contains(byte)
    }
  }

  /// Shows a text, in the place of the one before.
  ///
  /// - Parameters:
  ///   - summary: One line.
  ///   - body: What is below it; it is shown as it is, whatever it contains.
  /// - Throws: ``BusFailure`` where it can't be shown.
  package func show(_ summary: String, _ body: String) throws(BusFailure) {
    do throws(BusFailure) { try connect() } catch {
      bus = nil
      throw error
    }
    // A service that shows markup takes `<` for the beginning of some; one that does not shows everything as it is.
    let text = capabilities.contains("body-markup") ? MarkupText.escaped(body) : body
    let hasBody = capabilities.contains("body")
    do throws(BusFailure) {
      let answer = try bus?.call(
        BusCall(
          service, Self.path, Self.name, "Notify", .text("signet"), .unsigned(shown),
          .text("dialog-password"), .text(hasBody ? summary : "\(summary): \(body)"),
          .text(hasBody ? text : ""), .texts([]), .variants(["category": "x-signet.transaction"]),
          .integer(-1)), within: Self.limit)
      shown = UInt32(clamping: answer?.first?.number ?? 0)
    } catch {
      // The next one finds out anew who shows notifications.
      bus = nil
      shown = 0
      throw error
    }
  }

  /// Takes back what is shown.
  ///
  /// - Throws: ``BusFailure``; a notification that its user has closed before is none.
  package func close() throws(BusFailure) {
    guard shown != 0, bus != nil else { return }
    let number = shown
    shown = 0
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
        name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "nothing shows notifications here")
    }
    let answer = try bus.call(
      BusCall(service, Self.path, Self.name, "GetCapabilities"), within: Self.limit)
    capabilities = Set(answer.first?.texts ?? [])
    self.service = service
    self.bus = consume bus
    shown = 0
  }
}
