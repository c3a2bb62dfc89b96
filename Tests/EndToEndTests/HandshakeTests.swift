import Foundation
import Signet
import SignetHTTPClient
import SignetJSON
import SignetTesting
import SignetTestKit
import Synchronization
import Testing

/// A restart, or several servers, in the middle of an activation: the keys of handshakes are only in memory.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HandshakeTests {
  /// Runs a body in place of the password prompt, between *start* and *finish*.
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

  /// The statuses of all answers to one kind of request, in order.
  private func answers(_ server: RunningServer, to suffix: String) throws -> [String] {
    server.events.split(separator: "\n").compactMap { line in
      guard line.contains("\"path\":\"/main/v1\(suffix)\"") else { return nil }
      return line.split(separator: "\"status\":\"").last.map { String($0.prefix(3)) }
    }
  }

  @Test(
    "after a restart between start and finish, the device begins again and no attempt is counted"
  )
  func restart() async throws {
    let first = try await RunningServer.startWithShop()
    try await first.addUser("alice")
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

  @Test("processes that share handshake keys continue each other's handshakes; the last one deletes the keys")
  func sharing() async throws {
    let memory = try MemoryFolder()
    let first = try await RunningServer.startWithShop { $1["runtime"] = .string(memory.path) }
    let port = try FreePort.find()
    let other = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    try await first.addUser("alice")
    let code = try await first.invite("alice")
    let again = Mutex<RunningServer?>(nil)
    let interruption = Interruption {
      // The kill destroys the keys in its memory; the other process continues.
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

  /// The files of a folder that contain one of the keys, as bytes or as text.
  private func files(of folder: String, with keys: [[UInt8]]) throws -> [String] {
    let forms = keys.flatMap { key in
      let base64 = Data(key).base64EncodedString().replacing("=", with: "")
      let hex = key.map { String(format: "%02x", $0) }.joined()
      return [
        Data(key), Data(base64.utf8), Data(hex.utf8), Data(hex.uppercased().utf8),
        Data(base64.replacing("+", with: "-").replacing("/", with: "_").utf8),
      ]
    }
    return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
      guard let content = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return false }
      return forms.contains { content.range(of: $0) != nil }
    }
  }

  @Test("after an activation the key of its handshake is in no file of the server's, nor in a backup")
  func keyIsInNoFile() async throws {
    let memory = try MemoryFolder()
    let server = try await RunningServer.startWithShop(["--protection", "device"]) {
      $1["runtime"] = .string(memory.path)
    }
    _ = try await server.device().json("activate", "--code-file", server.codeFile("alice"))
    #expect(try answers(server, to: "/activation/finish") == ["200"])
    let names = try memory.names().filter { $0.hasPrefix("handshake-") }
    // The file holds the time of creation, 8 bytes, then the key.
    let keys = try names.map {
      Array(try Data(contentsOf: URL(filePath: "\(memory.path)/\($0)")).dropFirst(8))
    }
    try #require(!keys.isEmpty && keys.allSatisfy { $0.count == 32 })
    // The control: the keys are found in their own files.
    #expect(try files(of: memory.path, with: keys).sorted() == names.sorted())
    #expect(FileManager.default.fileExists(atPath: "\(server.data)/signet.sqlite-wal"))
    #expect(try files(of: server.data, with: keys) == [])
    let copy = "\(server.folder.path)/copy"
    #expect(try await server.run("backup", copy).status == 0)
    #expect(try files(of: copy, with: keys) == [])
    await server.stop()
    #expect(try files(of: server.data, with: keys) == [])
  }

  @Test("a second process without a shared key folder is refused, and so is a key folder on a disk")
  func refusals() async throws {
    let server = try await RunningServer.start()
    let port = try FreePort.find()
    let second = try await server.run("serve", "--listen", "127.0.0.1:\(port)")
    #expect(second.isRefusal(69, "another process serves"), second.summary)
    #expect(second.output.isEmpty)
    // After a kill it does not block another server.
    server.send(SIGKILL)
    #expect(await server.status() == -SIGKILL)
    let again = try await server.again()
    await again.stop()
    try again.changeSettings { $0["runtime"] = "/usr/lib" }
    let onDisk = try await again.run("serve")
    #expect(onDisk.status != 0 && onDisk.errorOutput.contains("/usr/lib"), onDisk.summary)
  }
}
