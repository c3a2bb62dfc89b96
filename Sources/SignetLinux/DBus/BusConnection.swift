import CSystemd
import Glibc

/// A connection to a message bus for one thread at a time, closed with its single owner.
///
/// Every call blocks, up to its time-out or until the ``Interruption`` fires, so its owner is an actor with a
/// `BlockingExecutor`. Data from the bus is limited: see ``BusMessage``, ``BusWatch`` and ``eventLimit``.
@safe package struct BusConnection: ~Copyable {
  /// The address of the system bus.
  ///
  /// The variable `DBUS_SYSTEM_BUS_ADDRESS` is ignored, because a program's environment is not trusted.
  package static let systemAddress = "unix:path=/run/dbus/system_bus_socket"
  package static let daemon = "org.freedesktop.DBus"
  /// The maximum number of signals that are stored during a call.
  private static let eventLimit = 1_024

  private let raw: OpaquePointer
  private let interruption: Interruption
  private var watches: [BusWatch] = []
  private var pendingEvents: [BusEvent] = []

  /// Connects to a bus.
  ///
  /// - Parameters:
  ///   - address: In the form of the D-Bus specification, `unix:path=…`.
  ///   - interruption: Ends any wait of this connection.
  /// - Throws: ``BusFailure``.
  package init(_ address: String, interruption: Interruption) throws(BusFailure) {
    var bus: OpaquePointer?
    let created = unsafe sd_bus_new(&bus)
    guard created >= 0, let bus = unsafe bus else { throw .connectionFailed(errno: -created) }
    var code = unsafe sd_bus_set_address(bus, address)
    if code >= 0 { code = unsafe sd_bus_set_bus_client(bus, 1) }
    if code >= 0 { code = unsafe sd_bus_start(bus) }
    guard code >= 0 else {
      unsafe sd_bus_unref(bus)
      throw .connectionFailed(errno: -code)
    }
    self.interruption = interruption
    unsafe raw = bus
  }

  // No flush, which would wait for a bus that does not answer: messages are already sent, and important ones were answered.
  deinit { unsafe sd_bus_close_unref(raw) }

  /// Lends the connection to calls of sd-bus.
  func withRaw<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(raw) }

  /// Calls a method and waits for the answer.
  ///
  /// Signals that arrive meanwhile are stored for ``event(until:isInterruptible:)``.
  ///
  /// - Parameters:
  ///   - call: The method and its arguments.
  ///   - limit: The time-out.
  ///   - isInterruptible: True if the interruption ends the wait; false for clean-up calls after it.
  /// - Returns: The body of the answer.
  /// - Throws: ``BusFailure``.
  @discardableResult package mutating func call(
    _ call: BusCall, within limit: Duration = .seconds(10), isInterruptible: Bool = true
  ) throws(BusFailure) -> [BusValue] {
    try reply(to: call, within: limit, isInterruptible: isInterruptible).body()
  }

  /// Calls a method that returns a file descriptor, which the caller must close.
  ///
  /// - Throws: ``BusFailure``.
  package mutating func callForDescriptor(
    _ call: BusCall, within limit: Duration = .seconds(10)
  ) throws(BusFailure) -> Int32 {
    try reply(to: call, within: limit, isInterruptible: true).descriptor()
  }

  /// Subscribes to the signals of a watch.
  ///
  /// - Throws: ``BusFailure``.
  package mutating func watch(_ watch: BusWatch) throws(BusFailure) {
    watches.append(watch)
    try call(
      BusCall(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "AddMatch", .text(watch.rule)))
  }

  /// Returns the unique name of a well-known name's owner; the bus starts the service if it is activatable.
  ///
  /// - Returns: `nil` if the name has no owner and no service can be started.
  /// - Throws: ``BusFailure``.
  package mutating func owner(of name: String) throws(BusFailure) -> String? {
    // In this order: for a name that it cannot start, the bus does not look for an owner.
    if let owner = try currentOwner(of: name) { return owner }
    do throws(BusFailure) {
      try call(
        BusCall(
          Self.daemon, "/org/freedesktop/DBus", Self.daemon, "StartServiceByName", .text(name), .unsigned(0)),
        within: .seconds(30))
    } catch {
      guard case .refused(let error, _) = error, Self.absences.contains(error) else { throw error }
      return nil
    }
    return try currentOwner(of: name)
  }

  private mutating func currentOwner(of name: String) throws(BusFailure) -> String? {
    do throws(BusFailure) {
      let body = try call(
        BusCall(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "GetNameOwner", .text(name)))
      guard let owner = body.first?.text else { throw BusFailure.malformed }
      return owner
    } catch {
      guard case .refused(let error, _) = error, Self.absences.contains(error) else { throw error }
      return nil
    }
  }

  /// The errors of the bus for a missing service.
  private static let absences: Set = [
    "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Spawn.ServiceNotFound",
  ]

  /// Returns the next signal of a watch.
  ///
  /// - Parameters:
  ///   - deadline: The end of the wait; `nil` waits without limit.
  ///   - isInterruptible: True if the interruption ends the wait.
  /// - Returns: A signal; signals arrive in the order in which they were sent.
  /// - Throws: ``BusFailure``.
  package mutating func event(
    until deadline: ContinuousClock.Instant? = nil, isInterruptible: Bool = true
  ) throws(BusFailure) -> BusEvent {
    while true {
      if !pendingEvents.isEmpty { return pendingEvents.removeFirst() }
      let message = try message(until: deadline, isInterruptible: isInterruptible)
      try store(message)
    }
  }

  private mutating func reply(
    to call: BusCall, within limit: Duration, isInterruptible: Bool
  ) throws(BusFailure) -> BusMessage {
    var created: OpaquePointer?
    var code = unsafe sd_bus_message_new_method_call(
      raw, &created, call.destination, call.path, call.interface, call.member)
    guard code >= 0, let pointer = unsafe created else { throw .connectionLost(errno: -code) }
    let message = unsafe BusMessage(owning: pointer)
    for argument in call.arguments where code >= 0 { code = message.append(argument) }
    var cookie: UInt64 = 0
    if code >= 0 { code = unsafe message.withRaw { unsafe sd_bus_send(raw, $0, &cookie) } }
    guard code >= 0 else { throw code == -EINVAL ? .malformed : .connectionLost(errno: -code) }
    let deadline = ContinuousClock.now + limit
    while true {
      let received = try self.message(until: deadline, isInterruptible: isInterruptible)
      let isReply = received.replyCookie == cookie
      if isReply && received.kind == .reply { return received }
      if isReply && received.kind == .failure { throw received.failure }
      if !isReply { try store(received) }
    }
  }

  /// Stores a signal of one of the watches; drops all other messages.
  private mutating func store(_ message: borrowing BusMessage) throws(BusFailure) {
    let sender = message.sender
    guard message.kind == .signal, watches.contains(where: { $0.sender == sender }) else { return }
    let event = BusEvent(
      sender: sender, path: message.path, interface: message.interface, member: message.member,
      body: try message.body())
    guard watches.contains(where: { $0.admits(event) }) else { return }
    guard pendingEvents.count < Self.eventLimit else { throw .malformed }
    pendingEvents.append(event)
  }

  func message(
    until deadline: ContinuousClock.Instant?, isInterruptible: Bool
  ) throws(BusFailure) -> BusMessage {
    while true {
      if isInterruptible && interruption.hasFired { throw .interrupted }
      var received: OpaquePointer?
      let code = unsafe sd_bus_process(raw, &received)
      guard code >= 0 else { throw .connectionLost(errno: -code) }
      if let received = unsafe received { return unsafe BusMessage(owning: received) }
      if code == 0 { try wait(until: deadline, isInterruptible: isInterruptible) }
    }
  }

  /// Waits until there is data to process.
  private func wait(until deadline: ContinuousClock.Instant?, isInterruptible: Bool) throws(BusFailure) {
    var milliseconds: Int32 = -1
    if let deadline {
      let remaining = ContinuousClock.now.duration(to: deadline)
      guard remaining > .zero else { throw .timedOut }
      // Rounded up, to avoid waking before the deadline.
      milliseconds = Int32(clamping: Int64(clamping: Int64(remaining / .milliseconds(1)) + 1))
    }
    let descriptor = unsafe sd_bus_get_fd(raw)
    let events = unsafe sd_bus_get_events(raw)
    guard descriptor >= 0, events >= 0 else { throw .connectionLost(errno: -min(descriptor, events)) }
    var entries = [
      pollfd(fd: descriptor, events: Int16(events), revents: 0),
      pollfd(fd: isInterruptible ? interruption.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    let count = unsafe poll(&entries, 2, milliseconds)
    if count < 0 && errno != EINTR { throw .connectionLost(errno: errno) }
  }
}

/// The reason why a bus operation failed.
package enum BusFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no bus at the address, or it denies access.
  case connectionFailed(errno: Int32)
  /// The connection broke.
  case connectionLost(errno: Int32)
  /// The peer answered with an error.
  case refused(name: String, message: String)
  /// There was no message in time.
  case timedOut
  /// The ``Interruption`` has fired.
  case interrupted
  /// A message exceeded the limits of size or depth, or had an unexpected form.
  case malformed

  /// A description for a log; the peer's text is not sanitised.
  package var description: String {
    switch self {
    case .connectionFailed(let code): "no connection to the bus, system error \(code)"
    case .connectionLost(let code): "the connection to the bus was lost, system error \(code)"
    case .refused(let name, let message): "\(name): \(message)"
    case .timedOut: "no answer in time"
    case .interrupted: "interrupted"
    case .malformed: "a message of an unexpected form"
    }
  }
}
