import CSystemd
import Glibc

/// A received method call that must be answered.
package struct BusRequest: ~Copyable {
  /// The method and its caller.
  package let event: BusEvent
  let message: BusMessage
}

/// The service side of a connection, for services and for test doubles.
extension BusConnection {
  /// Acquires a name on the bus.
  ///
  /// - Throws: ``BusFailure``, also if another connection owns the name.
  package mutating func own(_ name: String) throws(BusFailure) {
    let code = unsafe withRaw { unsafe sd_bus_request_name($0, name, 0) }
    guard code >= 0 else { throw .connectionLost(errno: -code) }
  }

  /// The unique name that the bus has assigned to this connection.
  ///
  /// - Throws: ``BusFailure/connectionLost(errno:)``.
  package func uniqueName() throws(BusFailure) -> String {
    var name: UnsafePointer<CChar>?
    let code = unsafe withRaw { unsafe sd_bus_get_unique_name($0, &name) }
    guard code >= 0, let name = unsafe name else { throw .connectionLost(errno: -code) }
    return unsafe String(cString: name)
  }

  /// Sends a signal.
  ///
  /// - Parameters:
  ///   - path: The object that it concerns.
  ///   - interface: The interface that defines it.
  ///   - member: The signal's name.
  ///   - arguments: The body.
  ///   - destination: The only recipient; `nil` broadcasts the signal.
  /// - Throws: ``BusFailure``.
  package mutating func emit(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument],
    to destination: String? = nil
  ) throws(BusFailure) {
    var created: OpaquePointer?
    var code = unsafe withRaw { unsafe sd_bus_message_new_signal($0, &created, path, interface, member) }
    guard code >= 0, let pointer = unsafe created else { throw .connectionLost(errno: -code) }
    let message = unsafe BusMessage(owning: pointer)
    if let destination {
      code = unsafe message.withRaw { unsafe sd_bus_message_set_destination($0, destination) }
    }
    for argument in arguments where code >= 0 { code = message.append(argument) }
    try send(message, code)
  }

  /// Returns the next method call to this connection; drops signals.
  ///
  /// - Parameter deadline: The end of the wait; `nil` waits without limit.
  /// - Returns: The call, to be answered.
  /// - Throws: ``BusFailure``.
  package mutating func request(until deadline: ContinuousClock.Instant? = nil) throws(BusFailure)
    -> BusRequest
  {
    while true {
      let message = try message(until: deadline, isInterruptible: true)
      if message.kind == .call {
        let event = BusEvent(
          sender: message.sender, path: message.path, interface: message.interface, member: message.member,
          body: try message.body())
        return BusRequest(event: event, message: message)
      }
    }
  }

  /// Answers a call.
  ///
  /// - Parameters:
  ///   - request: The call.
  ///   - arguments: The body of the answer.
  /// - Throws: ``BusFailure``.
  package mutating func answer(
    _ request: borrowing BusRequest, _ arguments: BusArgument...
  ) throws(BusFailure) {
    var created: OpaquePointer?
    var code = unsafe request.message.withRaw { unsafe sd_bus_message_new_method_return($0, &created) }
    guard code >= 0, let pointer = unsafe created else { throw .connectionLost(errno: -code) }
    let message = unsafe BusMessage(owning: pointer)
    for argument in arguments where code >= 0 { code = message.append(argument) }
    try send(message, code)
  }

  /// Answers a call with an error.
  ///
  /// - Parameters:
  ///   - request: The call.
  ///   - name: The error's name.
  ///   - message: The error's message.
  /// - Throws: ``BusFailure``.
  package mutating func refuse(
    _ request: borrowing BusRequest, _ name: String, _ message: String
  ) throws(BusFailure) {
    let code = unsafe name.withCString { name in
      unsafe message.withCString { message in
        var error = unsafe sd_bus_error(name: name, message: message, _need_free: 0)
        return unsafe request.message.withRaw { unsafe sd_bus_reply_method_error($0, &error) }
      }
    }
    guard code >= 0 else { throw .connectionLost(errno: -code) }
  }

  private mutating func send(_ message: borrowing BusMessage, _ code: Int32) throws(BusFailure) {
    var code = code
    if code >= 0 {
      code = unsafe withRaw { bus in unsafe message.withRaw { unsafe sd_bus_send(bus, $0, nil) } }
    }
    guard code >= 0 else { throw .connectionLost(errno: -code) }
  }
}
