import Foundation
import SignetTestKit

/// A service that shows notifications by writing them to a file: independent of ours, with Debian's `python3-dbus`.
package final class NotificationFixture: Sendable {
  /// Its bus.
  package let bus: PrivateBus
  private let service: Daemon
  private let file: String

  /// Starts the service and returns when it answers.
  ///
  /// - Parameter capabilities: The capabilities that it reports.
  /// - Throws: The error that prevents the start.
  package init(capabilities: [String] = ["body", "body-markup"]) async throws {
    bus = try PrivateBus()
    file = bus.folder.file("notifications")
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    let script = """
      import json, os, sys
      import dbus, dbus.service
      from dbus.mainloop.glib import DBusGMainLoop
      from gi.repository import GLib

      NAME = "org.freedesktop.Notifications"
      DBusGMainLoop(set_as_default=True)

      class Notifications(dbus.service.Object):
          last = 0

          def note(self, **members):
              with open(sys.argv[1], "a") as log:
                  log.write(json.dumps(members, sort_keys=True) + "\\n")

          @dbus.service.method(NAME, in_signature="", out_signature="as")
          def GetCapabilities(self):
              return dbus.Array(json.loads(sys.argv[2]), signature="s")

          @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
          def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
              number = int(replaces)
              if number == 0:
                  Notifications.last += 1
                  number = Notifications.last
              self.note(app=app, replaces=int(replaces), summary=summary, body=body,
                        actions=[str(a) for a in actions], timeout=int(timeout),
                        hints={str(k): str(v) for k, v in hints.items()}, number=number)
              return dbus.UInt32(number)

          @dbus.service.method(NAME, in_signature="u", out_signature="")
          def CloseNotification(self, number):
              self.note(closed=int(number))

      bus = dbus.bus.BusConnection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
      name = dbus.service.BusName(NAME, bus)
      Notifications(bus, "/org/freedesktop/Notifications")
      GLib.MainLoop().run()
      """
    let list = "[" + capabilities.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    service = try await bus.start(
      "/usr/bin/python3", ["-c", script, file, list], name: "org.freedesktop.Notifications")
  }

  /// Kills the service.
  package func kill() { service.kill() }

  /// The requests so far, one JSON object in each line.
  package var lines: [String] {
    let data = FileManager.default.contents(atPath: file) ?? Data()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
