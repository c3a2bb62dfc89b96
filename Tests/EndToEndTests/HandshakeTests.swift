import Foundation
import Signet
import SignetTestKit
import SignetTesting
import SignetTransport
import Synchronization
import Testing

/// Servers that are restarted, or several, in the middle of an activation: the keys of handshakes live in memory only.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HandshakeTests {
  /// Does something where the user types a password: between *start* and *finish*.
  private final class Interruption: ActivationHandler {
    private let body: @Sendable () async throws -> Void
    private let count = Mutex(0)

    init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    var requests: Int { count.withLock { $0 } }

    func progressed(to progress: ActivationProgress) async {}

    func password(for request: PasswordRequest) async -> PasswordReply {
      count.withLock { $0 += 1 }
      do { try await body() } catch { Issue.record(error) }
      return .proceed(SharedSecretBox(SecretBytes(copying: Array("winter-garden".utf8))))
    }
  }

  private func device(_ server: RunningServer) throws -> Device {
    let folder = "\(server.folder.path)/device"
    return Device(
      vault: try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder)),
      connection: ConnectionConfiguration(
        certificateAuthoritiesPEM: try String(contentsOfFile: server.authority, encoding: .utf8)))
  }

  /// How a request of a kind was answered, in order.
  private func answers(_ server: RunningServer, to suffix: String) throws -> [String] {
    server.events.split(separator: "\n").compactMap { line in
      guard line.contains("\"path\":\"/main/v1\(suffix)\"") else { return nil }
      return line.split(separator: "\"status\":\"").last.map { String($0.prefix(3)) }
    }
  }

  @Test(
    "a restart between start and finish fails no activation: the device begins again, and the invite counts nothing"
  )
  func restart() async throws {
    let first = try await RunningServer.startWithShop()
    _ = try await first.json("user", "add", "alice")
    let code = try await first.invite("alice")
    let again = Mutex<RunningServer?>(nil)
    let interruption = Interruption {
      await first.stop()
      let server = try await first.again()
      again.withLock { $0 = server }
    }
    let container = try await device(first).createContainer(
      ContainerInitialization(code: code), handler: interruption)
    #expect(container.isConfirmed && interruption.requests == 1)
    let second = try #require(again.withLock { $0 })
    #expect(try answers(first, to: "/activation/start") == ["200"])
    #expect(try answers(second, to: "/activation/start") == ["200"])
    #expect(try answers(second, to: "/activation/finish") == ["409", "200"])
    #expect(try await second.activeContainers("alice").count == 1)
    #expect(try await second.audited("activation.refused").isEmpty)
    await second.stop()
  }

  @Test("processes that share keys in memory go on with each other's handshakes; the last one leaves none")
  func sharing() async throws {
    let memory = try MemoryFolder()
    let first = try await RunningServer.startWithShop().sharing(memory)
    let port = try FreePort.find()
    let other = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    _ = try await first.json("user", "add", "alice")
    let code = try await first.invite("alice")
    let again = Mutex<RunningServer?>(nil)
    let interruption = Interruption {
      // Killed: what it had in memory is gone; the other process runs on.
      first.send(SIGKILL)
      #expect(await first.status() == -SIGKILL)
      let server = try await first.again()
      again.withLock { $0 = server }
    }
    _ = try await device(first).createContainer(ContainerInitialization(code: code), handler: interruption)
    let second = try #require(again.withLock { $0 })
    #expect(try answers(second, to: "/activation/start").isEmpty, "the handshake of the first is good")
    #expect(try answers(second, to: "/activation/finish") == ["200"])
    #expect(try await second.activeContainers("alice").count == 1)
    #expect(try memory.names().allSatisfy { $0.hasPrefix("handshake-") } && !memory.names().isEmpty)
    await other.stop()
    #expect(try !memory.names().isEmpty)
    await second.stop()
    #expect(try memory.names().isEmpty)
  }

  @Test("a second process that would share nothing is refused, and so is a folder on a disk")
  func refusals() async throws {
    let server = try await RunningServer.start()
    let port = try FreePort.find()
    let second = try await server.run("serve", "--listen", "127.0.0.1:\(port)")
    #expect(second.isRefusal(69, "another process serves"), second.summary)
    #expect(second.output.isEmpty)
    // Killed, it is in nobody's way.
    server.send(SIGKILL)
    #expect(await server.status() == -SIGKILL)
    let again = try await server.again()
    await again.stop()
    try again.changeSettings { $0["runtime"] = "/usr/lib" }
    let onDisk = try await again.run("serve")
    #expect(onDisk.status != 0 && onDisk.errorOutput.contains("/usr/lib"), onDisk.summary)
  }
}
