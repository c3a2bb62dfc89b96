import Glibc
import SignetSystem
import SignetVault

/// A connection to logind, on a thread that may block.
actor LogindWatch {
  private static let name = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"
  private static let properties = "org.freedesktop.DBus.Properties"

  private let executor = BlockingExecutor(label: "signet.logind")
  private let interruption: Interruption
  private var bus: BusConnection?
  private var service = ""
  /// Delays sleep and shutdown until it is closed; `nil` if logind does not allow this session to delay them.
  private var inhibitor: Inhibitor?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(interruption: Interruption) { self.interruption = interruption }

  /// Connects and subscribes to signals.
  ///
  /// - Returns: True if the screen of one of the user's sessions is locked now.
  func begin(at address: String) throws(BusFailure) -> Bool {
    bus = try BusConnection(address, interruption: interruption)
    guard let service = try bus?.owner(of: Self.name) else {
      throw .refused(name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "there is no logind")
    }
    self.service = service
    let watches = [
      BusWatch(sender: service, path: Self.path, interface: Self.manager),
      BusWatch(sender: service, interface: Self.session),
      BusWatch(
        sender: service, interface: Self.properties, member: "PropertiesChanged", argument: Self.session),
      BusWatch(
        sender: BusConnection.daemon, interface: BusConnection.daemon, member: "NameOwnerChanged",
        argument: service),
    ]
    for watch in watches { try bus?.watch(watch) }
    try inhibit()
    return try isAnySessionLocked()
  }

  /// Returns the next event of this user or of the machine.
  func next() throws(BusFailure) -> ScreenLockEvent {
    while true {
      guard let event = try bus?.event() else { throw .connectionLost(errno: ENOTCONN) }
      let argument = event.body.first?.flag
      switch event.member {
      case "NameOwnerChanged": throw .connectionLost(errno: EPIPE)
      case "PrepareForSleep":
        guard let argument else { break }
        if argument { return .willSleep }
        // Before the event is reported, so that the next sleep is delayed too.
        try inhibit()
        return .woke
      case "PrepareForShutdown": if argument == true { return .willShutDown }
      case "Lock": if try isUserSession(event.path) { return .locked }
      case "Unlock": if try isUserSession(event.path) { return .unlocked }
      case "PropertiesChanged":
        if let isLocked = event.body.dropFirst().first?["LockedHint"]?.flag, try isUserSession(event.path) {
          return isLocked ? .locked : .unlocked
        }
      default: break
      }
    }
  }

  /// Lets the machine sleep after the app has reacted.
  func releaseInhibitor(after event: ScreenLockEvent) {
    switch event {
    case .willSleep, .willShutDown: inhibitor = nil
    default: break
    }
  }

  private func inhibit() throws(BusFailure) {
    do throws(BusFailure) {
      let descriptor = try bus?.callForDescriptor(
        BusCall(
          service, Self.path, Self.manager, "Inhibit", .text("sleep:shutdown"), .text("Signet"),
          .text("wipes the keys in memory"), .text("delay")))
      inhibitor = descriptor.map { Inhibitor(descriptor: $0) }
    } catch {
      // polkit may forbid this for remote sessions; the event itself is delivered anyway.
      guard case .refused = error else { throw error }
      inhibitor = nil
    }
  }

  private func isAnySessionLocked() throws(BusFailure) -> Bool {
    let body = try bus?.call(BusCall(service, Self.path, Self.manager, "ListSessions"))
    for entry in body?.first?.list ?? [] {
      // Session id, user id, user name, seat, path.
      guard let parts = entry.list, parts.count == 5, parts[1].number == Int64(getuid()),
        let path = parts[4].text
      else { continue }
      if try property("LockedHint", of: path)?.flag == true { return true }
    }
    return false
  }

  /// Returns true if a session belongs to this user; false if it no longer exists.
  private func isUserSession(_ path: String) throws(BusFailure) -> Bool {
    do throws(BusFailure) {
      return try property("User", of: path)?.list?.first?.number == Int64(getuid())
    } catch {
      guard case .refused = error else { throw error }
      return false
    }
  }

  private func property(_ name: String, of path: String) throws(BusFailure) -> BusValue? {
    try bus?.call(BusCall(service, path, Self.properties, "Get", .text(Self.session), .text(name))).first
  }
}

extension ScreenLockFailure {
  init(_ failure: BusFailure) {
    switch failure {
    case .connectionFailed(ENOENT), .refused("org.freedesktop.DBus.Error.ServiceUnknown", _):
      self = .notCapable
    default: self = .connectionLost(TerminalText.sanitised(failure.description, limit: 200))
    }
  }
}

/// Delays sleep and shutdown during its lifetime.
private final class Inhibitor: Sendable {
  private let descriptor: Int32
  init(descriptor: Int32) { self.descriptor = descriptor }
  deinit { close(descriptor) }
}
