import BusFixture
import Foundation
import SignetLinux
import SignetTestKit
import Testing

@Suite(
  "A connection to a real dbus-daemon", .timeLimit(.minutes(10)),
  .enabled(if: PrivateBus.isPossible, "needs dbus-daemon"))
struct BusConnectionTests {
  private static let interface = "org.example.Signet"
  private static let path = "/org/example/Signet"

  @Test("a missing bus and a silent one are errors")
  func noBus() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("none")
    let interruption = try Interruption()
    await #expect(throws: BusFailure.connectionFailed(errno: ENOENT)) {
      try await interruption.run("signet.test") { () throws(BusFailure) in
        _ = try BusConnection("unix:path=\(path)", interruption: interruption)
      }
    }
  }

  @Test("a silent bus ends with a time-out, and the connection is closed")
  func silentBus() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("bus")
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(isBound == 0 && listen(listener, 8) == 0)
    let interruption = try Interruption()
    await #expect(throws: BusFailure.timedOut) {
      try await interruption.run("signet.test") { () throws(BusFailure) in
        var bus = try BusConnection("unix:path=\(path)", interruption: interruption)
        try bus.call(
          BusCall(BusConnection.daemon, "/org/freedesktop/DBus", BusConnection.daemon, "GetId"),
          within: .milliseconds(1))
      }
    }
  }

  @Test("a name that is neither owned nor activatable has no owner")
  func owner() async throws {
    let bus = try PrivateBus()
    let owner = try await bus.run { bus throws(BusFailure) in try bus.owner(of: "org.example.Nobody") }
    #expect(owner == nil)
  }

  @Test("an error reply keeps its name and message")
  func refused() async throws {
    let bus = try PrivateBus()
    await #expect(throws: BusFailure.self) {
      try await bus.run { bus throws(BusFailure) in
        try bus.call(BusCall("org.example.Nobody", Self.path, Self.interface, "Ask"))
      }
    }
  }

  @Test("a text with NUL is refused, not truncated")
  func embeddedZero() async throws {
    let bus = try PrivateBus()
    await #expect(throws: BusFailure.malformed) {
      try await bus.run { bus throws(BusFailure) in
        try bus.call(
          BusCall(
            BusConnection.daemon, "/org/freedesktop/DBus", BusConnection.daemon, "GetNameOwner", .text("a\0b")
          ))
      }
    }
  }

  @Test("a missing answer ends with a time-out")
  func timeLimit() async throws {
    let bus = try PrivateBus()
    await #expect(throws: BusFailure.timedOut) {
      try await bus.run { bus throws(BusFailure) in
        // To ourselves, who do not answer while we wait.
        let name = try bus.uniqueName()
        try bus.call(BusCall(name, Self.path, Self.interface, "Ask"), within: .milliseconds(1))
      }
    }
  }

  @Test("a message above the size limits is refused")
  func tooMuch() async throws {
    let bus = try PrivateBus()
    let long = String(repeating: "x", count: 65_537)
    let many = [BusArgument](repeating: .flag(true), count: 250)
    for (arguments, isTaken) in [
      ([.text(long)], false), ([.text(String(long.dropLast()))], true), (many, true),
    ] {
      let result = await Self.received(arguments, on: bus)
      switch result {
      case .success(let body): #expect(isTaken && body.count == arguments.count)
      case .failure(let failure): #expect(!isTaken && failure == .malformed)
      }
    }
  }

  @Test("cancelling the task ends the wait")
  func cancel() async throws {
    let bus = try PrivateBus()
    let (begun, told) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await bus.run { bus throws(BusFailure) in
        told.yield()
        _ = try bus.event()
      }
    }
    for await _ in begun { break }
    task.cancel()
    await #expect(throws: BusFailure.interrupted) { try await task.value }
  }

  /// Sends a signal with these values to a listening connection, and returns the parsed values.
  private static func received(
    _ arguments: [BusArgument], on bus: PrivateBus
  ) async -> Result<[BusValue], BusFailure> {
    do throws(BusFailure) {
      return .success(
        try await bus.run { bus throws(BusFailure) in
          try bus.watch(BusWatch(sender: try bus.uniqueName(), interface: interface))
          try bus.emit(path, interface, "Told", arguments)
          return try bus.event(until: .now + .seconds(600)).body
        })
    } catch { return .failure(error) }
  }
}
