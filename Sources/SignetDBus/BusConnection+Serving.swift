import CSystemd
import Glibc

/// A call to us, to be answered.
package struct BusRequest: ~Copyable {
  /// What is called, and by whom.
  package let event: BusEvent
  let message: BusMessage
}

/// The other side of a conversation: what a service does, or its stand-in in a test.
extension BusConnection {
  /// Takes a name on the bus.
  ///
  /// - Throws: ``BusFailure``, also where somebody else has it.
  package mutating func own(_ name: String) throws(BusFailure) {
    let code = unsafe withRaw { unsafe sd_bus_request_name($0, name, 0) }
    guard code >= 0 else { throw .connectionLost(errno: -code) }
  }

  /// The name that the bus has given us.
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
  ///   - path: The object that it is about.
  ///   - interface: The interface that defines it.
  ///   - member: Its name.
  ///   - arguments: What it carries.
  ///   - destination: Whom alone it goes to; nil for all who listen.
  /// - Throws: ``BusFailure``.
  package mutating func emit(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument],
    to destination: String? = nil
  ) throws(BusFailure) {
    var made: OpaquePointer?
    var code = unsafe withRaw { unsafe sd_bus_message_new_signal($0, &made, path, interface, member) }
    guard code >= 0, let pointer = unsafe made else { throw .connectionLost(errno: -code) }
    let message = unsafe BusMessage(owning: pointer)
    if let destination {
      code = unsafe message.withRaw { unsafe sd_bus_message_set_destination($0, destination) }
    }
    for argument in arguments where code >= 0 { code = message.append(argument) }
    try send(message, code)
  }

  /// The next call to us; signals are dropped.
  ///
  /// - Parameter deadline: When to give up; nil for never.
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
  ///   - arguments: What the answer carries.
  /// - Throws: ``BusFailure``.
  package mutating func answer(
    _ request: borrowing BusRequest, _ arguments: BusArgument...
  ) throws(BusFailure) {
    var made: OpaquePointer?
    var code = unsafe request.message.withRaw { unsafe sd_bus_message_new_method_return($0, &made) }
    guard code >= 0, let pointer = unsafe made else { throw .connectionLost(errno: -code) }
    let message = unsafe BusMessage(owning: pointer)
    for argument in arguments where code >= 0 { code = message.append(argument) }
    try send(message, code)
  }

  /// Answers a call with an error.
  ///
  /// - Parameters:
  ///   - request: The call.
  ///   - name: The error's name.
  ///   - words: What it says.
  /// - Throws: ``BusFailure``.
  package mutating func refuse(
    _ request: borrowing BusRequest, _ name: String, _ words: String
  ) throws(BusFailure) {
    let code = unsafe name.withCString { name in
      unsafe words.withCString { words in
        var error = unsafe sd_bus_error(name: name, message: words, _need_free: 0)
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
