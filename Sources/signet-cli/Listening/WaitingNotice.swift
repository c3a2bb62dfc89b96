import Signet
import SignetTerminal
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

#if os(Linux)
  import SignetLinux
#endif

/// The desktop notification about a waiting request, if there is a desktop.
///
/// It contains no details: notifications are visible on locked screens and to other programs of the session.
struct WaitingNotice {
  #if os(Linux)
    private let notifications: DesktopNotifications?
    private let announcements: Announcements
    private let hasFailed = Flag()
    /// True if the environment names the bus; otherwise the default address is tried, which may not exist.
    private let isNamed: Bool

    init(_ arguments: Arguments, _ announcements: Announcements) {
      self.announcements = announcements
      let environment = ProcessInfo.processInfo.environment
      isNamed = environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false
      guard !arguments.isSet("no-notify"),
        let address = DesktopNotifications.sessionAddress(environment)
      else {
        notifications = nil
        return
      }
      // Without free descriptors other operations fail and report it.
      do { notifications = try DesktopNotifications(at: address) } catch { notifications = nil }
    }

    /// Shows a notification for new requests, and closes it when none waits.
    func update(of count: Int, isNew: Bool, at serverName: String) async {
      guard let notifications else { return }
      do throws(BusFailure) {
        if isNew {
          // No URL: some notification services would turn it into a link.
          let title = count == 1 ? "A request waits" : "\(count) requests wait"
          let text: TerminalText = "\(serverName, limit: 300): run signet listen to see it."
          try await notifications.show("Signet: \(title)", text.shown(width: nil, usesUTF8: true))
        } else if count == 0 {
          try await notifications.close()
        }
      } catch .connectionFailed(errno: ENOENT) where !isNamed {
        // A login without a desktop has no bus.
      } catch {
        // Reported once: requests are still shown in the terminal.
        if hasFailed.set() {
          announcements.post("signet: no notifications on the desktop: \(error, limit: 400)")
        }
      }
    }

    /// A flag for a message that is printed once.
    private final class Flag: Sendable {
      private let isSet = Mutex(false)

      /// Sets the flag; returns true the first time.
      func set() -> Bool {
        isSet.withLock { isSet in
          defer { isSet = true }
          return !isSet
        }
      }
    }
  #else
    /// Does nothing: this system has no such notifications.
    init(_ arguments: Arguments, _ announcements: Announcements) {}

    func update(of count: Int, isNew: Bool, at serverName: String) async {}
  #endif
}
