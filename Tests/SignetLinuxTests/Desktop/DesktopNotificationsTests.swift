import BusFixture
import SignetLinux
import Testing

/// Notifications of the desktop, on a real bus, shown by an independent service.
@Suite(.enabled(if: PrivateBus.isPossible), .timeLimit(.minutes(10))) struct DesktopNotificationsTests {
  @Test("a notification is shown, replaced and withdrawn")
  func shows() async throws {
    let service = try await NotificationFixture()
    let notifications = try DesktopNotifications(at: service.bus.address)
    try await notifications.close()  // nothing is shown yet
    try await notifications.show("One", "first")
    try await notifications.show("Two", "second")
    try await notifications.close()
    try await notifications.close()
    try await notifications.show("Three", "third")
    #expect(
      service.lines == [
        #"{"actions": [], "app": "signet", "body": "first", "hints": {"category": "x-signet.transaction"}, "#
          + #""number": 1, "replaces": 0, "summary": "One", "timeout": -1}"#,
        #"{"actions": [], "app": "signet", "body": "second", "hints": {"category": "x-signet.transaction"}, "#
          + #""number": 1, "replaces": 1, "summary": "Two", "timeout": -1}"#,
        #"{"closed": 1}"#,
        #"{"actions": [], "app": "signet", "body": "third", "hints": {"category": "x-signet.transaction"}, "#
          + #""number": 2, "replaces": 0, "summary": "Three", "timeout": -1}"#,
      ])
  }

  @Test("markup characters are shown literally, with and without markup support")
  func markup() async throws {
    let text = #"<b>a</b> & <img src="x"> 'c'"#
    let reads = try await NotificationFixture()
    try await DesktopNotifications(at: reads.bus.address).show("S", text)
    let escaped = "&lt;b&gt;a&lt;/b&gt; &amp; &lt;img src=&quot;x&quot;&gt; &#39;c&#39;"
    #expect(reads.lines.first?.contains(#""body": "\#(escaped)""#) == true, "\(reads.lines)")
    let plain = try await NotificationFixture(capabilities: ["body"])
    try await DesktopNotifications(at: plain.bus.address).show("S", "<b>a</b>")
    #expect(plain.lines.first?.contains(#""body": "<b>a</b>""#) == true, "\(plain.lines)")
  }

  @Test("a service that shows one line gets everything in it")
  func oneLine() async throws {
    let service = try await NotificationFixture(capabilities: [])
    try await DesktopNotifications(at: service.bus.address).show("S", "text")
    let line = service.lines.first ?? ""
    #expect(line.contains(#""body": """#) && line.contains(#""summary": "S: text""#), "\(line)")
  }

  @Test("a missing bus, a missing service and an ended one are failures; the next attempt reconnects")
  func failures() async throws {
    let nowhere = try DesktopNotifications(at: "unix:path=/nonexistent/bus")
    await #expect(throws: BusFailure.self) { try await nowhere.show("S", "text") }
    let bus = try PrivateBus()
    let nobody = try DesktopNotifications(at: bus.address)
    await #expect(throws: BusFailure.self) { try await nobody.show("S", "text") }

    let service = try await NotificationFixture()
    let notifications = try DesktopNotifications(at: service.bus.address)
    try await notifications.show("S", "text")
    service.kill()
    await #expect(throws: BusFailure.self) { try await notifications.show("S", "again") }
    await #expect(throws: BusFailure.self) { try await notifications.show("S", "and again") }
    try await notifications.close()
    #expect(service.lines.count == 1)
  }

  @Test(
    "the session's bus is a socket of this machine",
    arguments: [
      (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1/bus"], "unix:path=/run/user/1/bus"),
      (
        ["DBUS_SESSION_BUS_ADDRESS": "tcp:host=h,port=1;unix:abstract=/tmp/x,guid=1"],
        "unix:abstract=/tmp/x,guid=1"
      ),
      (["DBUS_SESSION_BUS_ADDRESS": "unixexec:path=/bin/sh"], nil),
      (["DBUS_SESSION_BUS_ADDRESS": "tcp:host=h,port=1", "XDG_RUNTIME_DIR": "/run/user/1"], nil),
      (["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/run/user/1"], "unix:path=/run/user/1/bus"),
      (["XDG_RUNTIME_DIR": "run"], nil), (["XDG_RUNTIME_DIR": "/run;tcp:host=h"], nil), ([:], nil),
    ] as [([String: String], String?)])
  func addresses(_ environment: [String: String], _ address: String?) {
    #expect(DesktopNotifications.sessionAddress(environment) == address)
  }
}
