import Foundation
import PushFixture
import Signet
import SignetCrypto
import SignetJSON
import SignetServer
import SignetTestKit
import Testing

/// `kill -9` of a device, or of the server, at each step of an enrolment: nothing is ever half enrolled, and the same URI again
/// repairs whatever was left.
@Suite(.serialized, .timeLimit(.minutes(8))) struct PushEnrolmentKillTests {
  /// `strace`, which ends a process at one of its calls that make something durable.
  private static let strace = "/usr/bin/strace"
  private static let canTrace =
    FileManager.default.isExecutableFile(atPath: strace) || ContinuousIntegration.isHere

  /// What is on a device, as another process finds it.
  private func found(_ device: DeviceCommand) async throws -> (account: EnrolledAccount?, codes: Int) {
    guard FileManager.default.fileExists(atPath: device.data) else { return (nil, 0) }
    let vault = try Vault(directory: device.data, keystore: SoftwareKeystore(directory: device.data))
    let accounts = Device(vault: vault).accounts
    let enrolled = try await accounts.enrolled()
    #expect(enrolled.count <= 1)
    return (enrolled.first, try await accounts.list().count)
  }

  /// Nothing, or all of it.
  private func expectWhole(_ device: DeviceCommand, _ comment: Comment) async throws -> Bool {
    let (account, codes) = try await found(device)
    guard let account else {
      #expect(codes == 0, comment)
      return false
    }
    #expect(account.codes.count == 1 && account.push != nil && codes == 1, comment)
    #expect(account.policyNames == ["appsOwn"], comment)
    return true
  }

  @Test(
    "the device, at each of its own steps, with our server",
    .enabled(if: canTrace, "needs strace"))
  func device() async throws {
    let server = try await RunningServer.startWithShop()
    let operatorClient = try APIClient(server)
    let shop = try APIClient(server, keyFile: server.shopKey)
    var (step, kills) = (0, 0)
    while true {
      step += 1
      try #require(step < 60, "it never comes to an end")
      let user = "user\(step)"
      _ = try await operatorClient.json(.post, "admin/users", ["user": .string(user)])
      let made = try await operatorClient.json(
        .post, "admin/pushauth/mechanisms",
        ["user": .string(user), "issuer": "Bank", "policies": ["appsOwn": [:]], "codes": ["kind": "totp"]])
      let uri = try server.write(try made.string("uri"), to: "\(user).uri")
      let mechanism = try made.string("id")
      var device = server.device(user)
      let words = ["import", uri, "--push-token", "AABB", "--push-service", "webhook"]
      device.launcher = [
        Self.strace, "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
        "inject=fsync,fdatasync:signal=KILL:when=\(step)",
      ]
      let result = try await device.run(words)
      device.launcher = []
      let comment: Comment = "step \(step): \(result.summary)"
      let isWhole = try await expectWhole(device, comment)
      let listed = try await operatorClient.json(.get, "admin/pushauth/mechanisms?user=\(user)")
      guard case .object(let present)? = try listed.array("mechanisms").first else {
        throw JSONFailure.notAnObject
      }
      let isRegistered = try present.string("state") == "active"
      // Never here without there.
      #expect(!isWhole || isRegistered, comment)
      if result.status == 0 { #expect(isWhole, comment) } else { kills += 1 }
      // The same again.
      let again = try await device.run(words)
      #expect(again.status == (isWhole ? 65 : 0), "step \(step), again: \(again.summary)")
      #expect(try await expectWhole(device, "step \(step), again"), comment)
      try await expectInUse(device, user, mechanism, shop, server)
      if result.status == 0 { break }
    }
    #expect(kills > 4)
    #expect(try await server.answer("audit", "verify")["intact"] == true)
    await server.stopAndWait()
  }

  /// Both halves are good for something: a code is taken, and a message is answered.
  private func expectInUse(
    _ device: DeviceCommand, _ user: String, _ mechanism: String, _ shop: APIClient, _ server: RunningServer
  ) async throws {
    let code = try await device.json("otp", "Bank").string("code")
    #expect(try await server.accepts(code, of: user))
    let sent = try await shop.json(.post, "pushauth/messages", ["user": .string(user), "text": "Log in?"])
    let push = try server.write(
      String(decoding: sent.object("push").bytes, as: UTF8.self), to: "\(user).push")
    let received = try await device.run("message", "receive", push)
    #expect(received.status == 0, received.summary)
    #expect(try await device.run("message", "approve").status == 0)
    let state = try await shop.json(.get, "pushauth/messages/\(sent.string("id"))")
    #expect(try state.string("status") == "approved")
  }

  @Test("our server, at each of its steps", .enabled(if: canTrace, "needs strace")) func server() async throws
  {
    var server = try await RunningServer.startWithShop()
    var step = 0
    var isEnded = false
    while !isEnded {
      step += 1
      try #require(step < 12, "it never comes to an end")
      let operatorClient = try APIClient(server)
      let user = "user\(step)"
      _ = try await operatorClient.json(.post, "admin/users", ["user": .string(user)])
      let made = try await operatorClient.json(
        .post, "admin/pushauth/mechanisms",
        ["user": .string(user), "issuer": "Bank", "policies": ["appsOwn": [:]], "codes": ["kind": "totp"]])
      let uri = try server.write(try made.string("uri"), to: "\(user).uri")
      let device = server.device(user)
      let words = ["import", uri, "--push-token", "AABB", "--push-service", "webhook"]
      let trap = try await StepTrap(server.process, step)
      let result = try await device.run(words)
      let wasKilled = await trap.end()
      isEnded = !wasKilled
      let comment: Comment = "step \(step): \(result.summary)"
      #expect((result.status == 0) == isEnded, comment)
      #expect(try await expectWhole(device, comment) == isEnded, comment)
      if wasKilled {
        _ = await server.status()
        server = try await server.again()
        let again = try await device.run(words)
        #expect(again.status == 0, "step \(step), again: \(again.summary)")
        #expect(try await expectWhole(device, "step \(step), again"), comment)
      }
      try await expectInUse(
        device, user, made.string("id"), APIClient(server, keyFile: server.shopKey), server)
    }
    #expect(step > 1)
    #expect(try await server.answer("audit", "verify")["intact"] == true)
    await server.stopAndWait()
  }

  /// Ends a running process at one of its next calls that make something durable.
  private final class StepTrap {
    private let process: ChildProcess
    private let victim: ChildProcess

    init(_ victim: ChildProcess, _ step: Int, _ calls: String = "fsync,fdatasync") async throws {
      self.victim = victim
      process = try ChildCommand(
        [
          PushEnrolmentKillTests.strace, "-f", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
          "inject=\(calls):signal=KILL:when=\(step)", "-p", "\(victim.id)",
        ], errorOutput: .pipe
      ).start()
      let line = try #require(await process.errorOutput.firstLine())
      try #require(line.contains("attached"), "\(line)")
    }

    deinit { process.kill() }

    /// Lets the victim go; whether it was ended.
    func end() async -> Bool {
      let isRunning = victim.isRunning
      process.kill()
      _ = await process.status()
      return !isRunning
    }
  }

  @Test(
    "the device, before and after a server of another make has registered it",
    .enabled(if: PythonPeer.isWanted))
  func otherServer() async throws {
    let (folder, peer) = try otherMake()
    for moment in ["before", "after"] {
      let device = DeviceCommand(data: folder.file(moment), authority: folder.file("ca.pem"))
      let uri = try peer(
        "enrol",
        ["scheme": "mfauth", "issuer": "Other", "account": .string(moment), "policies": ["appsOwn": [:]]]
      ).string("uri")
      _ = try peer("hold", .string(moment))
      let words = ["import", uri, "--push-token", "AABB"]
      let running = try device.process(words).start()
      // The request has come in; in the second round the server knows the device, and the answer has not left.
      #expect(try peer("held", .null).string("action") == "register")
      #expect(running.kill())
      #expect(try await running.result().status == -SIGKILL)
      _ = try peer("release", "break")
      #expect(try await !expectWhole(device, "\(moment)"))
      let known = try peer("state", "").strings("mechanisms")
      #expect(known.count == (moment == "before" ? 0 : 2))
      let again = try await device.run(words)
      #expect(again.status == 0, "\(moment): \(again.summary)")
      #expect(try await expectWhole(device, "\(moment), again"))
      // No second one was made there.
      let after = try peer("state", "").strings("mechanisms")
      #expect(after.count == (moment == "before" ? 1 : 2))
      let account = try #require(await found(device).account)
      #expect(after.contains(try #require(account.push?.mechanismID)))
    }
  }

  /// A server in Python, and a folder with its authority.
  private func otherMake() throws -> (TemporaryFolder, PythonPeer) {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority()
    let identity = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    for (name, text) in [
      ("server.pem", identity.certificatePEM), ("server.key", identity.insecurePrivateKeyPEM),
      ("ca.pem", try authority.certificatePEM),
    ] { try Data(text.utf8).write(to: URL(filePath: folder.file(name))) }
    let peer = try PythonPeer(
      "am_server.py",
      ["certificate": .string(folder.file("server.pem")), "key": .string(folder.file("server.key"))])
    return (folder, peer)
  }

  @Test(
    "the device, at each write between the server's answer and the end",
    .enabled(if: canTrace && PythonPeer.isWanted))
  func answered() async throws {
    let (folder, peer) = try otherMake()
    var (step, halves) = (0, 0)
    while true {
      step += 1
      try #require(step < 200, "it never comes to an end")
      let device = DeviceCommand(data: folder.file("device\(step)"), authority: folder.file("ca.pem"))
      let uri = try peer(
        "enrol",
        ["scheme": "mfauth", "issuer": "Other", "account": .string("\(step)"), "policies": ["appsOwn": [:]]]
      ).string("uri")
      _ = try peer("hold", "after")
      let words = ["import", uri, "--push-token", "AABB"]
      let running = try device.process(words).start()
      #expect(try peer("held", .null).string("action") == "register")
      // Each thread has its own count; what is written from here on is written by one.
      let trap = try await StepTrap(running, step, "pwrite64,fsync,fdatasync")
      _ = try peer("release", "answer")
      let result = try await running.result()
      _ = await trap.end()
      let comment: Comment = "step \(step): \(result.summary)"
      let isWhole = try await expectWhole(device, comment)
      let again = try await device.run(words)
      #expect(again.status == (isWhole ? 65 : 0), "step \(step), again: \(again.summary)")
      #expect(try await expectWhole(device, "step \(step), again"), comment)
      let account = try #require(await found(device).account)
      let known = try peer("state", "").strings("mechanisms")
      #expect(try known.count == step && known.contains(#require(account.push?.mechanismID)), comment)
      guard result.status == -SIGKILL else {
        #expect(result.status == 0 && isWhole, comment)
        break
      }
      if !isWhole { halves += 1 }
    }
    print("push enrolment kill test: \(halves) of \(step - 1) kills before anything was stored")
    #expect(halves > 0)
  }
}
