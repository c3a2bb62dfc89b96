import Foundation
import PushFixture
import Signet
import SignetCrypto
import SignetJSON
import SignetServer
import SignetTestKit
import Testing

/// `kill -9` of a device or of the server at each step of an enrolment: it is never half done, and a retry repairs the rest.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct PushEnrolmentKillTests {
  /// The system calls that make data durable.
  private static let durable = ["fsync", "fdatasync"]

  /// The enrolled account and the codes on a device, as another process finds them.
  private func found(_ device: InstalledSignet) async throws -> (account: EnrolledAccount?, codes: Int) {
    guard FileManager.default.fileExists(atPath: device.data) else { return (nil, 0) }
    let vault = try Vault(directory: device.data, keystore: SoftwareKeystore(directory: device.data))
    let accounts = Device(vault: vault).accounts
    let enrolled = try await accounts.enrolled()
    #expect(enrolled.count <= 1)
    return (enrolled.first, try await accounts.list().count)
  }

  /// Expects that a device has nothing or a complete enrolment.
  private func expectWhole(_ device: InstalledSignet, _ comment: Comment) async throws -> Bool {
    let (account, codes) = try await found(device)
    guard let account else {
      #expect(codes == 0, comment)
      return false
    }
    #expect(account.codes.count == 1 && account.push != nil && codes == 1, comment)
    #expect(account.policyNames == ["appsOwn"], comment)
    return true
  }

  /// An enrolment that our server offers to a new user.
  private struct Offer {
    let user: String
    let mechanism: String
    let words: [String]

    init(_ server: RunningServer, _ user: String) async throws {
      let operatorClient = try APIClient(server)
      _ = try await operatorClient.json(.post, "admin/users", ["user": .string(user)])
      let made = try await operatorClient.json(
        .post, "admin/pushauth/mechanisms",
        ["user": .string(user), "issuer": "Bank", "policies": ["appsOwn": [:]], "codes": ["kind": "totp"]])
      (self.user, mechanism) = (user, try made.string("id"))
      words = [
        "import", try server.write(try made.string("uri"), to: "\(user).uri"), "--push-token", "AABB",
        "--push-service", "webhook",
      ]
    }
  }

  @Test("the device is killed at each of its steps, with our server", .enabled(if: StepTrap.isThere))
  func device() async throws {
    let server = try await RunningServer.startWithShop()
    let operatorClient = try APIClient(server)
    let shop = try APIClient(server, keyFile: server.shopKey)
    let trap = try StepTrap(Self.durable)
    var random = SeededRandom(test: "PushEnrolmentKillTests")
    // An undisturbed enrolment determines their number.
    var steps: [Int?] = [nil]
    var (round, kills) = (0, 0)
    while round < steps.count {
      let step = steps[round]
      round += 1
      let offer = try await Offer(server, "user\(round)")
      var device = server.device(offer.user)
      device.launcher = trap.launcher
      try trap.arm(step)
      let result = try await device.run(offer.words)
      device.launcher = []
      let comment: Comment = "\(trap): \(result.summary)"
      let isWhole = try await expectWhole(device, comment)
      #expect(result.status == (try trap.wasSprung ? -SIGKILL : 0), comment)
      if result.status == 0 { #expect(isWhole, comment) } else { kills += 1 }
      if step == nil { steps += try KillRounds.steps(of: trap.count, using: &random) }
      let listed = try await operatorClient.json(.get, "admin/pushauth/mechanisms?user=\(offer.user)")
      guard case .object(let present)? = try listed.array("authenticators").first else {
        throw JSONFailure.notAnObject
      }
      // The device never has an account that the server lacks.
      #expect(try !isWhole || present.string("state") == "active", comment)
      // The same URI again.
      let again = try await device.run(offer.words)
      #expect(again.status == (isWhole ? 65 : 0), "\(trap), again: \(again.summary)")
      #expect(try await expectWhole(device, "\(trap), again"), comment)
      try await expectInUse(device, offer.user, offer.mechanism, shop, server)
    }
    print("push enrolment kill test: the device was killed at \(kills) of its steps")
    // An enrolment may have one step less than the counted one.
    #expect(kills >= steps.count - 2)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  /// Expects that both halves work: a code is accepted and a message is answered.
  private func expectInUse(
    _ device: InstalledSignet, _ user: String, _ mechanism: String, _ shop: APIClient, _ server: RunningServer
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

  @Test("our server is killed at each of its steps", .enabled(if: StepTrap.isThere)) func server()
    async throws
  {
    let trap = try StepTrap(Self.durable)
    var server = try await RunningServer.startWithShop().restarted(launcher: trap.launcher)
    var random = SeededRandom(test: "PushEnrolmentKillTests")
    // A server writes more right after its start than later.
    var steps: [Int?] = [nil, nil]
    var (round, kills) = (0, 0)
    while round < steps.count {
      let step = steps[round]
      round += 1
      let offer = try await Offer(server, "user\(round)")
      let device = server.device(offer.user)
      try trap.arm(step)
      let result = try await device.run(offer.words)
      let comment: Comment = "\(trap): \(result.summary)"
      let (count, wasKilled) = (try trap.count, try trap.wasSprung)
      try trap.disarm()
      let isWhole = try await expectWhole(device, comment)
      #expect((result.status == 0) == !wasKilled && isWhole == !wasKilled, comment)
      if round == 2 { steps += try KillRounds.steps(of: count, using: &random) }
      if wasKilled {
        kills += 1
        #expect(await server.status() == -SIGKILL, comment)
        server = try await server.again(launcher: trap.launcher)
        let again = try await device.run(offer.words)
        #expect(again.status == 0, "\(trap), again: \(again.summary)")
        #expect(try await expectWhole(device, "\(trap), again"), comment)
      }
      try await expectInUse(
        device, offer.user, offer.mechanism, APIClient(server, keyFile: server.shopKey), server)
    }
    print("push enrolment kill test: the server was killed at \(kills) of its steps")
    #expect(kills >= steps.count - 3)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test(
    "the device is killed before and after another vendor's server registers it",
    .enabled(if: PythonPeer.isWanted))
  func otherServer() async throws {
    let (folder, peer) = try otherMake()
    for moment in ["before", "after"] {
      let device = InstalledSignet(data: folder.file(moment), authority: folder.file("ca.pem"))
      let uri = try peer(
        "enrol",
        ["scheme": "mfauth", "issuer": "Other", "account": .string(moment), "policies": ["appsOwn": [:]]]
      ).string("uri")
      _ = try peer("hold", .string(moment))
      let words = ["import", uri, "--push-token", "AABB"]
      let running = try device.process(words).start()
      // The server holds the request; in the second round it has registered the device, but the answer is not sent yet.
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
      // The retry made no second mechanism.
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
    "the device is killed at each write after the server's response",
    .enabled(if: StepTrap.isThere && PythonPeer.isWanted))
  func answered() async throws {
    let (folder, peer) = try otherMake()
    let trap = try StepTrap(Self.durable + ["pwrite64"])
    var random = SeededRandom(test: "PushEnrolmentKillTests")
    var steps: [Int?] = [nil]
    var (round, halves) = (0, 0)
    while round < steps.count {
      let step = steps[round]
      round += 1
      var device = InstalledSignet(data: folder.file("device\(round)"), authority: folder.file("ca.pem"))
      let uri = try peer(
        "enrol",
        ["scheme": "mfauth", "issuer": "Other", "account": .string("\(round)"), "policies": ["appsOwn": [:]]]
      ).string("uri")
      _ = try peer("hold", "after")
      let words = ["import", uri, "--push-token", "AABB"]
      device.launcher = trap.launcher
      let running = try device.process(words).start()
      device.launcher = []
      #expect(try peer("held", .null).string("action") == "register")
      try trap.arm(step)
      _ = try peer("release", "answer")
      let result = try await running.result()
      let comment: Comment = "\(trap): \(result.summary)"
      #expect(result.status == (try trap.wasSprung ? -SIGKILL : 0), comment)
      if step == nil { steps += try KillRounds.steps(of: trap.count, using: &random) }
      try trap.disarm()
      let isWhole = try await expectWhole(device, comment)
      if result.status == 0 { #expect(isWhole, comment) }
      let again = try await device.run(words)
      #expect(again.status == (isWhole ? 65 : 0), "\(trap), again: \(again.summary)")
      #expect(try await expectWhole(device, "\(trap), again"), comment)
      let account = try #require(await found(device).account)
      let known = try peer("state", "").strings("mechanisms")
      #expect(try known.count == round && known.contains(#require(account.push?.mechanismID)), comment)
      if !isWhole { halves += 1 }
    }
    print("push enrolment kill test: \(halves) of \(round - 1) kills before anything was stored")
    // The first write is among the steps, and nothing is stored before it.
    #expect(halves > 0)
  }
}
