import Signet
import SignetTesting
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

/// The authenticator for faces, with a real server.
///
/// Linux has no suitable service for faces: the app's
/// ``UAFClient/init(device:facetID:face:facetTransport:acceptsOlderFacetLists:)`` provides the matching, here a simulated camera.
/// `UAFFingerprintTests` has the fingerprint reader with the real fprintd.
@Suite("UAF with faces", .timeLimit(.minutes(10)))
struct UAFFaceTests {
  private let face = SimulatedBiometrics(.ready(.simulated(fingers: 1)))

  private func fixture() async throws -> UAFOperationsFixture {
    let fixture = try await UAFOperationsFixture(face: face)
    try await fixture.register("alice", .face)
    _ = fixture.person.events()
    return fixture
  }

  @Test("a face registers, signs in and confirms shown content without using the fingerprint reader")
  func signsIn() async throws {
    let fixture = try await UAFOperationsFixture(face: face)
    fixture.biometrics.set(.notCapable)
    let registered = try await fixture.register("alice", .face)
    #expect(registered.aaids == ["5167#0004"])
    _ = fixture.person.events()
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(
      fixture.person.events() == [.choice(["face"], shown: nil), .prompt(nil, shown: nil), .valid("face")])
    let link = try await fixture.link("authentication", ["username": "alice", "transaction": "Pay 20 EUR"])
    let payload = try await fixture.operations.decode(scanned: link)
    guard case .authentication(let confirmation) = try await fixture.operations.redeem(payload) else {
      failed("not an authentication")
      return
    }
    #expect(try await confirmation.run() != nil)
    #expect(
      fixture.person.events() == [
        .account(["alice"], shown: "Pay 20 EUR"), .choice(["face"], shown: "Pay 20 EUR"),
        .prompt(nil, shown: "Pay 20 EUR"), .valid("face"),
      ])
  }

  @Test("an unrecognised face is asked for again; the fifth failure in a row locks")
  func mismatches() async throws {
    let fixture = try await fixture()
    face.queue(.failure(.mismatch), .failure(.mismatch))
    #expect(try await fixture.operations.authenticate("alice") != nil)
    #expect(
      fixture.person.events().dropFirst() == [
        .prompt(nil, shown: nil), .prompt(.notRecognised, shown: nil), .prompt(.notRecognised, shown: nil),
        .valid("face"),
      ])
    face.queue(
      .failure(.mismatch), .failure(.mismatch), .failure(.mismatch), .failure(.mismatch), .failure(.mismatch))
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == .userLockout)
    let key = try #require(try await fixture.client.keys().first)
    #expect(try await fixture.client.protectionStatus(of: key) == .lockedOut)
  }

  @Test(
    "camera failures end the operation with their codes",
    arguments: [
      (BiometricFailure.cancelled, UAFClientError.userCancelled), (.timedOut, .userNotResponsive),
      (.lockedOut, .userLockout),
    ])
  func ends(_ said: BiometricFailure, _ code: UAFClientError) async throws {
    let fixture = try await fixture()
    face.queue(.failure(said))
    #expect(await failure { try await fixture.operations.authenticate("alice") }?.code == code)
    #expect(try await fixture.operations.authenticate("alice") != nil)
  }

  @Test("a later enrolled face invalidates the key; a new registration is required")
  func invalidated() async throws {
    let fixture = try await fixture()
    face.set(.ready(.simulated(fingers: 2)))
    #expect(
      await failure { try await fixture.operations.authenticate("alice") }?.code == .keyDisappearedPermanently
    )
    try await fixture.operations.deregister("alice", authorization: .jwt(fixture.apiKey))
    #expect(try await fixture.serverKeys().isEmpty)
    try await fixture.register("alice", .face)
    #expect(try await fixture.operations.authenticate("alice") != nil)
  }

  @Test(
    "if configured, a later enrolled face keeps the key valid and the passcode opens it"
  )
  func options() async throws {
    let fixture = try await UAFOperationsFixture(face: face)
    fixture.person.use(.face)
    var options = UAFKeyOptions()
    (options.invalidateOnNewOsBiometrics, options.allowDevicePasscodeAsFallback) = (false, true)
    try await fixture.operations.register(
      "alice", device: UAFNewDevice(name: "laptop"), authorization: .jwt(fixture.apiKey), options: options)
    face.set(.ready(.simulated(fingers: 2)))
    #expect(try await fixture.operations.authenticate("alice") != nil)
    let key = try #require(try await fixture.client.keys().first)
    #expect(key.kind == .face && key.aaid == "5167#0004")
  }

  @Test("without camera or enrolled face, the authenticator gives the reason")
  func missing() async throws {
    let fixture = try await UAFOperationsFixture(face: face)
    for (state, obstacle) in [
      (BiometricState.notCapable, UAFAuthenticatorChoice.Obstacle.notSupportedByHardware),
      (.notEnrolled, .notEnrolled),
    ] {
      face.set(state)
      let refused = await failure { try await fixture.register("alice", .face) }
      #expect(refused?.code == .noSuitableAuthenticator)
      #expect(fixture.person.obstacles["face"] == .some(obstacle))
    }
    let without = try await UAFOperationsFixture()
    #expect(await failure { try await without.register("alice", .face) }?.code == .noSuitableAuthenticator)
    #expect(without.person.obstacles["face"] == .some(.notSupportedByHardware))
  }
}
