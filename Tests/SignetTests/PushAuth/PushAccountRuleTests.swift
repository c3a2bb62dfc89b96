import Foundation
import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetOATH
import SignetPushAuth
import SignetTesting
import SignetTestKit
import SignetVault
import Synchronization
import Testing

/// Rules of accounts with push messages, in addition to enrolment and answers.
@Suite("Rules of accounts with push messages", .timeLimit(.minutes(10)))
struct PushAccountRuleTests {
  private typealias Bench = PushEnrolmentTests.Bench

  /// A device with a passcode, and a sensor that recognizes no user.
  private func device(_ bench: Bench, passcode: SimulatedPasscode) throws -> Device {
    let path = bench.folder.path + "/device"
    let vault = try Vault.forTests(path, clock: VirtualTrustedClock())
    return Device(
      vault: vault, clock: bench.clock,
      passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary()), passcode: passcode
    ) { [server = bench.server] _ throws(TransportFailure) in server }
  }

  @Test("without a biometric match the device passcode is accepted if the app allows it")
  func passcode() async throws {
    let bench = try Bench()
    let device = try device(bench, passcode: SimulatedPasscode("1234"))
    _ = try await device.accounts.enrol(bench.server.uri(.pushauth), from: PushEnrolmentTests.target())
    _ = try await device.accounts.receive(bench.server.delivery("M:1", kind: .biometric))
    await #expect(throws: SignetError.biometrics(.notCapable)) {
      try await device.accounts.answer("M:1", .approve)
    }
    for (answer, failure) in [("4321", DevicePasscodeFailure.mismatch), (nil, .cancelled)] {
      await #expect(throws: SignetError.passcode(failure)) {
        try await device.accounts.answer("M:1", .approve, passcode: ScriptedPasscodeConversation(answer))
      }
    }
    #expect(bench.server.answer(to: "M:1") == nil)
    #expect(try await device.accounts.messages(pendingOnly: true).count == 1)
    let conversation = ScriptedPasscodeConversation("1234")
    try await device.accounts.answer("M:1", .approve, passcode: conversation)
    #expect(bench.server.answer(to: "M:1") == "yes" && conversation.exchanges.count == 1)
    // A message without user verification asks for no passcode.
    _ = try await device.accounts.receive(bench.server.delivery("M:2"))
    let silent = ScriptedPasscodeConversation("1234")
    try await device.accounts.answer("M:2", .approve, passcode: silent)
    #expect(silent.exchanges.isEmpty)
  }

  /// Two servers behind one transport, selected by their hosts.
  private final class TwoServers: HTTPTransport {
    let first = PushServerInProcess()
    let second = PushServerInProcess()
    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      try await (request.url.contains("second") ? second : first).send(request)
    }
  }

  private struct TwoAccounts {
    let folder = Result { try TemporaryFolder() }
    let clock = VirtualClock(1_700_000_000)
    let servers = TwoServers()

    func device() throws -> Device {
      let path = try folder.get().path + "/device"
      let vault = try Vault.forTests(path, clock: VirtualTrustedClock())
      return Device(
        vault: vault, clock: clock, passwordChecks: PasswordChecks(dictionary: AccountsTests.NoDictionary())
      ) { [servers] _ throws(TransportFailure) in servers }
    }

    func enrol(on device: Device) async throws -> (first: PushMechanism, second: PushMechanism) {
      let target = try PushEnrolmentTests.target()
      let first = try await device.accounts.enrol(
        servers.first.uri(.pushauth, account: "a", base: "https://first.example/push?_action="), from: target)
      clock.advance(by: 1)
      let second = try await device.accounts.enrol(
        servers.second.uri(.pushauth, account: "b", base: "https://second.example/push?_action="),
        from: target)
      return (try #require(first.account.push), try #require(second.account.push))
    }
  }

  @Test("a new device token goes to all servers, and is sent again only to those that did not accept it")
  func tokens() async throws {
    let bench = TwoAccounts()
    let device = try bench.device()
    let (_, second) = try await bench.enrol(on: device)
    bench.servers.second.fail(with: [500])
    let failed = try await device.accounts.setPushDevice(PushEnrolmentTests.target("CD02"))
    #expect(failed.map(\.mechanism.id) == [second.id])
    #expect(bench.servers.first.device?.token == "CD02" && bench.servers.second.device?.token == "AB01")
    let count = bench.servers.first.requestCount
    bench.clock.advance(by: 60)
    #expect(try await device.accounts.sendPushTokens().isEmpty)
    #expect(bench.servers.second.device?.token == "CD02" && bench.servers.first.requestCount == count)
    #expect(try await device.accounts.enrolled().map(\.name) == ["a", "b"])
  }

  @Test("messages are listed and cleaned up per account")
  func messages() async throws {
    let bench = TwoAccounts()
    let device = try bench.device()
    let (first, second) = try await bench.enrol(on: device)
    for number in 1...4 {
      _ = try await device.accounts.receive(
        bench.servers.first.delivery("A:\(number)", text: "\(number)"), cleanUp: .count(2))
      bench.clock.advance(by: 1)
      _ = try await device.accounts.receive(
        bench.servers.second.delivery("B:\(number)", text: "\(number)"), cleanUp: .none)
      bench.clock.advance(by: 1)
    }
    let accounts = device.accounts
    #expect(try await accounts.messages(of: first.id).map(\.notification.id) == ["A:4", "A:3"])
    #expect(
      try await accounts.messages(of: second.id).map(\.notification.id) == ["B:4", "B:3", "B:2", "B:1"])
    #expect(try await accounts.messages().count == 6)
    try await accounts.answer("B:2", .deny)
    #expect(
      try await accounts.messages(of: second.id, pendingOnly: true).map(\.notification.id) == [
        "B:4", "B:3", "B:1",
      ])
    #expect(bench.servers.second.answer(to: "B:2") == "no" && bench.servers.first.answer(to: "B:2") == nil)
  }

  @Test("secrets of push mechanisms are never in clear on the disk, in descriptions or dumps")
  func secrecy() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let secret = [UInt8](0..<32)
    let enrolment = try await device.accounts.enrol(
      bench.server.uri(.mfauth), from: PushEnrolmentTests.target())
    let message = try bench.server.delivery("M:1", text: "A secret text of a message")
    _ = try await device.accounts.receive(message)
    var shown = "\(enrolment) \(try await device.accounts.enrolled()) \(try await device.accounts.messages())"
    dump(enrolment, to: &shown)
    dump(try await device.accounts.messages(), to: &shown)
    let texts = [
      Base64.encode(secret), Base64URL.encode(secret), Hex.encode(secret),
      Base32.encode(AccountsTests.secret), "12345678901234567890", message.token,
    ]
    for text in texts { #expect(!shown.contains(text)) }
    var files = 0
    for case let name as String in try #require(FileManager.default.enumerator(atPath: bench.folder.path)) {
      guard let data = FileManager.default.contents(atPath: bench.folder.file(name)) else { continue }
      files += 1
      #expect(
        data.firstRange(of: Data(secret)) == nil && data.firstRange(of: Data(AccountsTests.secret)) == nil)
      for text in texts + ["A secret text of a message"] {
        #expect(data.firstRange(of: Data(text.utf8)) == nil, "\(name)")
      }
    }
    #expect(files > 0)
    // The control: the search finds a secret that is there.
    #expect(Data(secret + [1]).firstRange(of: Data(secret)) != nil)
  }

  @Test(
    "a second URI whose policies exceed the account's limit is refused before any request"
  )
  func union() async throws {
    let bench = try Bench()
    let device = try bench.device()
    func policies(_ name: String) -> JSONObject {
      var object = JSONObject()
      for number in 0..<20 { object["\(name)\(number)"] = [:] }
      return object
    }
    _ = try await device.accounts.enrol(bench.server.uri(.otpauth, policies: policies("a")))
    do {
      _ = try await device.accounts.enrol(
        bench.server.uri(.pushauth, policies: policies("b")), from: PushEnrolmentTests.target())
      Issue.record("enrolled")
    } catch let error as SignetError {
      guard case .accountPolicy = error else { throw error }
    }
    #expect(bench.server.requestCount == 0)
    let account = try #require(await device.accounts.enrolled().first)
    #expect(account.push == nil && account.policyNames.count == 20)
    _ = try await device.accounts.code(of: account.codes[0].id)
  }
}
