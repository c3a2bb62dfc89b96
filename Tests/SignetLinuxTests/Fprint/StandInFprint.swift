import BusFixture
import SignetLinux

/// A service with answers that the real fprintd never gives: rare statuses and hostile answers.
final class StandInFprint: Sendable {
  /// Its answers.
  struct Script: Sendable {
    var device = "/net/reactivated/Fprint/Device/0"
    var fingers: [String]? = ["left-thumb"]
    var statuses: [[BusArgument]] = []
    /// The error that each method answers instead, by name.
    var errors: [String: (name: String, message: String)] = [:]
  }

  let bus: PrivateBus
  private let task: Task<Void, Never>

  init(_ script: Script) async throws {
    let bus = try PrivateBus()
    self.bus = bus
    let (owned, told) = AsyncStream<Void>.makeStream()
    task = Task {
      do {
        try await bus.run { bus throws(BusFailure) in
          try bus.own("net.reactivated.Fprint")
          told.yield()
          while true { try Self.serve(script, &bus) }
        }
      } catch {
        told.finish()  // the bus is gone, or the test has ended
      }
    }
    for await _ in owned { break }
  }

  deinit { task.cancel() }

  var gate: FprintGate { FprintGate(address: bus.address, timeLimit: .seconds(3_600)) }

  private static func serve(_ script: Script, _ bus: inout BusConnection) throws(BusFailure) {
    let request = try bus.request()
    let member = request.event.member
    if let error = script.errors[member] { return try bus.refuse(request, error.name, error.message) }
    switch member {
    case "GetDefaultDevice": try bus.answer(request, .path(script.device))
    case "ListEnrolledFingers":
      if let fingers = script.fingers {
        try bus.answer(request, .texts(fingers))
      } else {
        try bus.answer(request)
      }
    case "Get": try bus.answer(request, .variant("press"))
    case "VerifyStart":
      try bus.answer(request)
      for status in script.statuses {
        try bus.emit(script.device, "net.reactivated.Fprint.Device", "VerifyStatus", status)
      }
    default: try bus.answer(request)
    }
  }
}
