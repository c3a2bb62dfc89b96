import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetServer
import SignetTesting
import SignetUAFClient
import Testing

@Suite("UAF operations started out of band", .timeLimit(.minutes(10)))
struct UAFOutOfBandTests {
  private func registration(_ fixture: UAFOperationsFixture, _ username: String = "alice") async throws
    -> UAFRegistrationOutcome
  {
    let link = try await fixture.link("registration", ["username": .string(username)])
    let operations = try fixture.operations
    guard case .registration(let registration) = try await operations.redeem(operations.decode(scanned: link))
    else { throw UAFOperationFailure.fido(.protocolError) }
    return try await registration.run(device: UAFNewDevice(name: "laptop"))
  }

  private func authentication(
    _ fixture: UAFOperationsFixture, _ text: String
  ) async throws -> UAFAuthorization? {
    let operations = try fixture.operations
    guard
      case .authentication(let authentication) = try await operations.redeem(operations.decode(scanned: text))
    else { throw UAFOperationFailure.fido(.protocolError) }
    return try await authentication.run()
  }

  @Test("a link registers without authorization, and creates the dispatch target")
  func registers() async throws {
    let fixture = try await UAFOperationsFixture()
    let outcome = try await registration(fixture)
    #expect(outcome.account.username == "alice" && outcome.targetFailure == nil)
    #expect(try await fixture.serverKeys() == fixture.ownKeys())
  }

  @Test(
    "a message for this device is encrypted, shows its transaction before the PIN is asked, and confirms it")
  func confirmsTransaction() async throws {
    let fixture = try await UAFOperationsFixture()
    _ = try await registration(fixture)
    _ = fixture.person.events()
    let information = try #require(try await fixture.operations.localData.deviceInformation())
    let target = try #require(information.dispatchTargets.values.first)
    let text = "Pay 20 EUR to Bob"
    let link = try await fixture.link(
      "authentication", ["username": "alice", "transaction": .string(text)], to: target, data: "order 7")
    let payload = try await fixture.operations.decode(scanned: link)
    #expect(payload.wasEncrypted && payload.data == "order 7" && payload.operation == .authentication)
    #expect(try await authentication(fixture, link) != nil)
    #expect(
      fixture.person.events() == [
        .account(["alice"], shown: text), .choice(["pin"], shown: text),
        .verify(nil, .unlocked, shown: text), .valid("pin"),
      ])
  }

  @Test("a message for another device is not decrypted")
  func otherDevice() async throws {
    let (mine, other) = (try await UAFOperationsFixture(), try await UAFOperationsFixture())
    _ = try await registration(mine)
    _ = try await registration(other)
    let information = try #require(try await mine.operations.localData.deviceInformation())
    let target = try #require(information.dispatchTargets.values.first)
    let link = try await mine.link("authentication", ["username": "alice"], to: target)
    await #expect(throws: UAFPayloadFailure.decryption.signetError) {
      try await other.operations.decode(scanned: link)
    }
  }

  @Test("without a user name the user chooses among the server's accounts")
  func usernameless() async throws {
    let fixture = try await UAFOperationsFixture()
    _ = try await registration(fixture)
    _ = try await registration(fixture, "bob")
    _ = fixture.person.events()
    fixture.person.be("bob")
    let link = try await fixture.link("authentication", [:])
    #expect(try await authentication(fixture, link) != nil)
    #expect(fixture.person.events().first == .account(["alice", "bob"], shown: nil))
    fixture.person.be("carol")
    let second = try await fixture.link("authentication", [:])
    #expect(await failure { _ = try await authentication(fixture, second) }?.code == .noSuitableAuthenticator)
    fixture.person.cancel(at: "account")
    let third = try await fixture.link("authentication", [:])
    #expect(await failure { _ = try await authentication(fixture, third) }?.code == .userCancelled)
  }

  @Test("a token is valid once and for a limited time")
  func tokens() async throws {
    let fixture = try await UAFOperationsFixture()
    let link = try await fixture.link("registration", ["username": "alice"])
    let operations = try fixture.operations
    let payload = try await operations.decode(scanned: link)
    _ = try await operations.redeem(payload)
    await #expect(throws: UAFOutOfBandFailure.tokenAlreadyRedeemed(server: fixture.baseURL).signetError) {
      try await operations.redeem(payload)
    }
    let late = try await operations.decode(
      scanned: fixture.link("registration", ["username": "alice"]))
    fixture.clock.advance(by: 301)
    await #expect(throws: UAFOutOfBandFailure.tokenExpired(server: fixture.baseURL).signetError) {
      try await operations.redeem(late)
    }
  }

  @Test("a code of an unknown server is refused")
  func unknownServer() async throws {
    let fixture = try await UAFOperationsFixture()
    let text = PayloadTests.good
    let payload = try await fixture.operations.decode(scanned: text)
    fixture.transport.cut(.before, at: "")
    await #expect(throws: UAFOutOfBandFailure.serverNotTrusted("https://id.example.org").signetError) {
      try await fixture.operations.redeem(payload)
    }
  }

  @Test("pending operations are listed newest first and can be redeemed")
  func pending() async throws {
    let fixture = try await UAFOperationsFixture()
    _ = try await registration(fixture)
    let information = try #require(try await fixture.operations.localData.deviceInformation())
    let target = try #require(information.dispatchTargets.values.first)
    for data in ["first", "second"] {
      _ = try await fixture.link("authentication", ["username": "alice"], to: target, data: data)
      fixture.clock.advance(by: 5)
    }
    let operations = try fixture.operations
    let pending = try await operations.pendingOutOfBandOperations()
    #expect(pending.errors.isEmpty)
    #expect(pending.operations.map(\.payload.data) == ["second", "first"])
    #expect(pending.operations.first?.dispatchChannel == "link")
    let newest = try #require(pending.operations.first)
    guard case .authentication(let authentication) = try await operations.redeem(newest.payload) else {
      return failed("no authentication")
    }
    #expect(try await authentication.run() != nil)
    #expect(try await operations.pendingOutOfBandOperations().operations.map(\.payload.data) == ["first"])
  }

  @Test("clock skew is reported per server")
  func clockSkew() async throws {
    let fixture = try await UAFOperationsFixture()
    _ = try await registration(fixture)
    let device = Device(vault: fixture.vault, clock: VirtualClock(fixture.clock.now + 300)) {
      [transport = fixture.transport] _ throws(TransportFailure) in transport
    }
    let operations = UAFOperations(
      client: UAFClient(device: device, facetID: UAFOperationsFixture.facet),
      configuration: try UAFConfiguration(baseURL: fixture.baseURL), interaction: fixture.person)
    let skew = UAFDeviceServiceFailure.clockSkewTooBig(server: fixture.baseURL)
    #expect(try await operations.pendingOutOfBandOperations().errors == [skew])
    #expect(try await operations.checkDeviceInformation().errors == [skew])
    await #expect(
      throws: UAFDeviceInformationChangeFailure.clockSkewTooBig(server: fixture.baseURL).signetError
    ) { try await operations.changeDeviceInformation(name: "desk") }
  }

  @Test("a deregistration by a token deletes what the server names")
  func deregisters() async throws {
    let fixture = try await UAFOperationsFixture()
    _ = try await registration(fixture)
    let link = try await fixture.link("deregistration", ["username": "alice"])
    let operations = try fixture.operations
    guard
      case .deregistration(let deregistration) = try await operations.redeem(
        operations.decode(scanned: link))
    else { return failed("no deregistration") }
    #expect(try await deregistration.run().count == 1)
    #expect(try await operations.localData.deviceInformation() == nil)
  }
}
