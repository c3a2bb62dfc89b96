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
  import SignetDBus
  import SignetDesktop
#endif

/// The desktop's notification that something waits at a server, where there is a desktop.
///
/// It says that much and no more: notifications are seen on locked screens, and by other programs of the session.
struct WaitingNotice {
  #if os(Linux)
    private let notifications: DesktopNotifications?
    private let announcements: Announcements
    private let hasFailed = Flag()
    /// Whether somebody has said where the bus is; else it is where it would be, and there may be none.
    private let isNamed: Bool

    /// A notice as the arguments want it.
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
      // Without descriptors nothing else works either, and says so.
      do { notifications = try DesktopNotifications(at: address) } catch { notifications = nil }
    }

    /// Shows that something waits where something new does, and takes it back where nothing does any more.
    func tell(of count: Int, isNew: Bool, at place: String) async {
      guard let notifications else { return }
      do throws(BusFailure) {
        if isNew {
          // Not a URL: some services make links of them.
          let what = count == 1 ? "A request waits" : "\(count) requests wait"
          let text: TerminalText = "\(place, limit: 300): run signet listen to see it."
          try await notifications.show("Signet: \(what)", text.shown(width: nil, usesUTF8: true))
        } else if count == 0 {
          try await notifications.close()
        }
      } catch .connectionFailed(errno: ENOENT) where !isNamed {
        // A login without a desktop.
      } catch {
        // Said once: what comes is shown here all the same.
        if hasFailed.set() {
          announcements.note("signet: no notifications on the desktop: \(error, limit: 400)")
        }
      }
    }

    /// Something that is said once.
    private final class Flag: Sendable {
      private let isSet = Mutex(false)

      /// Whether it was not set before.
      func set() -> Bool {
        isSet.withLock { isSet in
          defer { isSet = true }
          return !isSet
        }
      }
    }
  #else
    /// There are none on this system.
    init(_ arguments: Arguments, _ announcements: Announcements) {}

    /// Does nothing.
    func tell(of count: Int, isNew: Bool, at place: String) async {}
  #endif
}
