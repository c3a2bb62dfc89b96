import CSystemd
import Glibc

/// A connection to a message bus for one thread at a time, closed with its single owner.
///
/// Every call blocks, up to its time limit or until the ``Interruption`` fires: an actor with a `BlockingExecutor` owns it. What
/// comes from the bus is bounded: see ``BusMessage``, ``BusWatch`` and ``eventLimit``.
@safe package struct BusConnection: ~Copyable {
  /// The bus of the system.
  ///
  /// The environment's `DBUS_SYSTEM_BUS_ADDRESS` is not asked: it is not the machine's word.
  package static let systemAddress = "unix:path=/run/dbus/system_bus_socket"
  /// The bus itself.
  package static let daemon = "org.freedesktop.DBus"
  /// The most signals that may wait while a call is answered.
  private static let eventLimit = 1_024

  private let raw: OpaquePointer
  private let interruption: Interruption
  private var watches: [BusWatch] = []
  private var waiting: [BusEvent] = []

  /// Connects.
  ///
  /// - Parameters:
  ///   - address: In the form of the D-Bus specification, `unix:path=…`.
  ///   - interruption: Ends whatever waits.
  /// - Throws: ``BusFailure``.
  package init(_ address: String, interruption: Interruption) throws(BusFailure) {
    var bus: OpaquePointer?
    let made = unsafe sd_bus_new(&bus)
    guard made >= 0, let bus = unsafe bus else { throw .connectionFailed(errno: -made) }
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

  // Without flushing, which waits for a bus that does not answer: what was sent is out already, and what matters was
  // answered.
  deinit { unsafe sd_bus_close_unref(raw) }

  /// Lends the connection to calls of sd-bus.
  func withRaw<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(raw) }

  /// Calls a method and waits for the answer.
  ///
  /// Signals that come in between wait for ``event(until:isInterruptible:)``.
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - limit: How long to wait at most.
  ///   - isInterruptible: Whether the interruption ends the wait; not so for what cleans up after it.
  /// - Returns: The body of the answer.
  /// - Throws: ``BusFailure``.
  @discardableResult package mutating func call(
    _ call: BusCall, within limit: Duration = .seconds(10), isInterruptible: Bool = true
  ) throws(BusFailure) -> [BusValue] {
    try answer(to: call, within: limit, isInterruptible: isInterruptible).body()
  }

  /// Calls a method that answers with a file descriptor, which the caller closes.
  ///
  /// - Throws: ``BusFailure``.
  package mutating func callForDescriptor(
    _ call: BusCall, within limit: Duration = .seconds(10)
  ) throws(BusFailure) -> Int32 {
    try answer(to: call, within: limit, isInterruptible: true).descriptor()
  }

  /// Listens from now on for the signals of a watch.
  ///
  /// - Throws: ``BusFailure``.
  package mutating func watch(_ watch: BusWatch) throws(BusFailure) {
    watches.append(watch)
    try call(
      BusCall(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "AddMatch", .text(watch.rule)))
  }

  /// The unique name of whoever owns a well-known name; the bus starts the service where it knows how.
  ///
  /// - Returns: nil where nobody owns it and nothing can be started.
  /// - Throws: ``BusFailure``.
  package mutating func owner(of name: String) throws(BusFailure) -> String? {
    // In this order: the bus does not look for the owner of a name that it could not start.
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

  /// What the bus says of a service that is not there.
  private static let absences: Set = [
    "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Spawn.ServiceNotFound",
  ]

  /// The next signal of a watch.
  ///
  /// - Parameters:
  ///   - deadline: When to give up; nil for never.
  ///   - isInterruptible: Whether the interruption ends the wait.
  /// - Returns: The signals come in the order in which they were sent.
  /// - Throws: ``BusFailure``.
  package mutating func event(
    until deadline: ContinuousClock.Instant? = nil, isInterruptible: Bool = true
  ) throws(BusFailure) -> BusEvent {
    while true {
      if !waiting.isEmpty { return waiting.removeFirst() }
      let message = try message(until: deadline, isInterruptible: isInterruptible)
      try keep(message)
    }
  }

  private mutating func answer(
    to call: BusCall, within limit: Duration, isInterruptible: Bool
  ) throws(BusFailure) -> BusMessage {
    var made: OpaquePointer?
    var code = unsafe sd_bus_message_new_method_call(
      raw, &made, call.destination, call.path, call.interface, call.member)
    guard code >= 0, let pointer = unsafe made else { throw .connectionLost(errno: -code) }
    let message = unsafe BusMessage(owning: pointer)
    for argument in call.arguments where code >= 0 { code = message.append(argument) }
    var cookie: UInt64 = 0
    if code >= 0 { code = unsafe message.withRaw { unsafe sd_bus_send(raw, $0, &cookie) } }
    guard code >= 0 else { throw code == -EINVAL ? .malformed : .connectionLost(errno: -code) }
    let deadline = ContinuousClock.now + limit
    while true {
      let received = try self.message(until: deadline, isInterruptible: isInterruptible)
      let isAnswer = received.answeredCookie == cookie
      if isAnswer && received.kind == .answer { return received }
      if isAnswer && received.kind == .failure { throw received.failure }
      if !isAnswer { try keep(received) }
    }
  }

  /// Keeps a signal of one of the watches; drops everything else, which nobody asked for.
  private mutating func keep(_ message: borrowing BusMessage) throws(BusFailure) {
    let sender = message.sender
    guard message.kind == .signal, watches.contains(where: { $0.sender == sender }) else { return }
    let event = BusEvent(
      sender: sender, path: message.path, interface: message.interface, member: message.member,
      body: try message.body())
    guard watches.contains(where: { $0.admits(event) }) else { return }
    guard waiting.count < Self.eventLimit else { throw .malformed }
    waiting.append(event)
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

  /// Waits until there is something to process.
  private func wait(until deadline: ContinuousClock.Instant?, isInterruptible: Bool) throws(BusFailure) {
    var milliseconds: Int32 = -1
    if let deadline {
      let remaining = ContinuousClock.now.duration(to: deadline)
      guard remaining > .zero else { throw .timedOut }
      // Rounded up, so as not to wake before the time and wait for nothing.
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
