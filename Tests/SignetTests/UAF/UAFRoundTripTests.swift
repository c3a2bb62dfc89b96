import Foundation
import Signet
import SignetCrypto
import SignetTesting
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

#if os(Linux)
  import SignetTPM
#endif

@Suite("UAF keys from registration to deregistration", .timeLimit(.minutes(10)))
struct UAFRoundTripTests {
  @Test(
    "each authenticator registers and signs, and its counters rise", arguments: UAFAuthenticator.Kind.allCases
  )
  func counters(kind: UAFAuthenticator.Kind) async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let request = party.registrationRequest()
    let registration = try await device.registration(request)
    #expect(registration.username == "alice" && registration.appID == UAFDevice.appID)
    let aaid = try await device.aaid(kind)
    let response = try await registration.register([
      UAFEnrolment(aaid: aaid, authentication: UAFDevice.authentication(kind))
    ])
    let verified = try party.accept(response, to: request)
    let made = try #require(verified.keys.first)
    #expect(verified.keys.count == 1 && verified.refused.isEmpty)
    #expect(made.signCounter == 1 && made.registrationCounter == 1 && made.attestation == .basicSurrogate)
    #expect(made.reference.keyID.bytes.count == 32)
    let key = try #require(response.keys.first)
    #expect(key.aaid == aaid && key.username == "alice" && key.appID == UAFDevice.appID && key.kind == kind)
    #expect(key.keyID == made.reference.keyID.text)
    for counter in UInt32(2)...4 {
      let use = try await device.authenticate(key, with: party)
      #expect(use.signCounter == counter && use.transaction == nil && !use.isOutdated)
    }
    // Another process continues with the same state.
    let other = try device.opened()
    #expect(try await other.authenticate(key, with: party).signCounter == 5)
  }

  @Test("every registration creates its own key and is counted")
  func registrations() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    var seen: Set<String> = []
    for number in UInt32(1)...3 {
      let request = party.registrationRequest("user\(number)")
      let registration = try await device.registration(request)
      let response = try await registration.register([
        UAFEnrolment(aaid: try await device.aaid(.pin), authentication: UAFDevice.authentication(.pin))
      ])
      let key = try #require(try party.accept(response, to: request).keys.first)
      #expect(key.registrationCounter == number)
      #expect(seen.insert(key.reference.keyID.text).inserted && seen.insert("\(key.encodedKey)").inserted)
    }
    #expect(try await Set(device.client.keys().map(\.username)) == ["user1", "user2", "user3"])
  }

  @Test("an assertion has a fresh nonce and the hash of the unchanged challenge")
  func nonces() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let key = try await device.register(.pin, with: party)
    var nonces: Set<[UInt8]> = []
    for _ in 0..<3 {
      let request = party.authenticationRequest()
      let response = try await device.authentication(request).authenticate([
        KeyUnlock(key: key, authentication: UAFDevice.authentication(.pin))
      ])
      let claimed = try AuthenticationResponse(parsing: Array(response.message.utf8), versions: [.v1_1])
      let assertion = try AuthenticationAssertion(parsing: try #require(claimed.assertions.first).bytes)
      #expect(assertion.data.nonce.count >= 8 && nonces.insert(assertion.data.nonce).inserted)
      #expect(assertion.data.finalChallengeHash == claimed.finalChallenge.hash)
      #expect(claimed.finalChallenge.params.challenge == request.challenge)
      #expect(claimed.finalChallenge.params.facetID == UAFDevice.facetID)
      #expect(claimed.finalChallenge.params.channelBinding.isEmpty && claimed.header == request.header)
    }
  }

  @Test("the caller's channel binding is sent")
  func channelBinding() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let request = party.registrationRequest()
    let binding = UAFChannelBinding(serverEndPoint: "AAEC", channelIDPublicKey: "unused")
    guard
      case .registration(let registration) = try await device.client.open(
        request.text, channelBinding: binding)
    else { return #expect(Bool(false)) }
    let response = try await registration.register([
      UAFEnrolment(aaid: try await device.aaid(.pin), authentication: UAFDevice.authentication(.pin))
    ])
    let claimed = try RegistrationResponse(parsing: Array(response.message.utf8), versions: [.v1_1])
    let said = claimed.finalChallenge.params.channelBinding
    #expect(said.serverEndPoint == "AAEC" && said.channelIDPublicKey == "unused" && said.tlsUnique == nil)
  }

  @Test("without an appID the caller is the application", arguments: [nil, ""] as [String?])
  func noAppID(appID: String?) async throws {
    let device = try UAFDevice()
    let party = try UAFParty(appID: appID)
    let key = try await device.register(.pin, with: party)
    #expect(key.appID == UAFDevice.facetID && device.facets.requests.isEmpty)
    #expect(try await device.authenticate(key, with: party).signCounter == 2)
  }

  @Test("an accepted registration replaces older keys of the account; a refused one is removed")
  func finishing() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let first = try await device.register(.pin, with: party)
    let other = try await device.register(.pin, with: party, "bob")
    let request = party.registrationRequest()
    let registration = try await device.registration(request)
    let refused = try await registration.register([
      UAFEnrolment(aaid: first.aaid, authentication: UAFDevice.pin("314159"))
    ])
    #expect(try await device.client.keys().count == 3)
    try await registration.finish(refused, isAccepted: false)
    #expect(try await Set(device.client.keys()) == [first, other])
    let second = try await device.register(.pin, with: party, by: UAFDevice.pin("314159"))
    #expect(try await Set(device.client.keys()) == [other, second])
    try await device.authenticate(second, with: party, by: UAFDevice.pin("314159"))
    let failure = await uafFailure { try await device.authenticate(first, with: party) }
    #expect(failure?.clientError == .noSuitableAuthenticator)
  }

  @Test("the vault contains no user name or PIN in clear")
  func noNamesInClear() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    try await device.register(.pin, with: party, "alice.of.wonderland")
    for name in try FileManager.default.contentsOfDirectory(atPath: device.folder.file("device")) {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: device.folder.file("device/\(name)")))
      for secret in ["alice.of.wonderland", UAFDevice.pin, UAFDevice.appID] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil)
      }
    }
  }

  @Test("containers, accounts and UAF keys are independent of each other")
  func besideContainers() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let key = try await device.register(.pin, with: party)
    #expect(try await device.device.containers().isEmpty)
    #expect(try await device.device.unconfirmedContainers().isEmpty)
    #expect(try await device.device.accounts.list().isEmpty)
    #expect(try await device.device.lostCredentials().isEmpty)
    try await device.authenticate(key, with: party)
    let report = try await device.device.reset()
    #expect(report.isErased && report.undeliverable.isEmpty)
    #expect(try await device.opened().client.keys().isEmpty)
  }
}

@Suite("UAF signature counters resist file rollback", .timeLimit(.minutes(10)))
struct UAFCounterTests {
  /// Copies the vault's current files.
  private func copy(_ device: UAFDevice, to name: String) throws {
    try FileManager.default.copyItem(atPath: device.folder.file("device"), toPath: device.folder.file(name))
  }

  /// A copy that is opened while it equals the original, and used when it is outdated.
  private func openCopy(
    _ device: UAFDevice, _ keystore: any HardwareKeystore, named name: String = "copy"
  ) throws -> UAFDevice {
    try copy(device, to: name)
    return try UAFDevice(folder: device.folder, named: name, clock: device.clock, keystore: keystore)
  }

  private func expectRolledBack(_ body: () async throws -> Void) async {
    let failure = await uafFailure(body)
    guard case .device(.vault(.rolledBack))? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(
      failure?.isRecoverable == false && failure?.clientError == .unknown && failure?.asmStatusCode == 1)
  }

  @Test("with a hardware counter an old copy neither signs nor registers, and stays refused")
  func hardware() async throws {
    let hardware = SimulatedHardware()
    let device = try UAFDevice(keystore: hardware)
    let party = try UAFParty()
    var keys: [UAFKey] = []
    for kind in UAFAuthenticator.Kind.allCases {
      keys.append(try await device.register(kind, with: party))
    }
    let old = try openCopy(device, hardware)
    for key in keys { #expect(try await device.authenticate(key, with: party).signCounter == 2) }
    for key in keys { await expectRolledBack { try await old.authenticate(key, with: party) } }
    await expectRolledBack { try await old.register(.pin, with: party, "bob") }
    #expect {
      _ = try UAFDevice(folder: device.folder, named: "copy", clock: device.clock, keystore: hardware)
    } throws: { error in
      guard case VaultFailure.rolledBack = error else { return false }
      return true
    }
    for key in keys { #expect(try await device.authenticate(key, with: party).signCounter == 3) }
  }

  @Test("a signature is counted by itself, also if a passcode entry is not counted")
  func signaturesCount() async throws {
    let hardware = SimulatedHardware()
    let device = try UAFDevice(keystore: hardware)
    let party = try UAFParty()
    let key = try await device.register(.devicePasscode, with: party)
    let old = try openCopy(device, hardware)
    #expect(try await device.authenticate(key, with: party).signCounter == 2)
    await expectRolledBack { try await old.authenticate(key, with: party) }
  }

  @Test("without hardware the server detects a cloned key by its counter")
  func software() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let key = try await device.register(.pin, with: party)
    try copy(device, to: "copy")
    try await device.authenticate(key, with: party)
    let clone = try UAFDevice(
      folder: device.folder, named: "copy", clock: device.clock,
      keystore: SoftwareKeystore(directory: device.folder.file("copy")))
    await #expect(throws: UAFRefusal.self) { try await clone.authenticate(key, with: party) }
  }

  @Test("two concurrent processes never sign with the same counter")
  func concurrently() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let key = try await device.register(.devicePasscode, with: party)
    let other = try device.opened()
    let counters = try await withThrowingTaskGroup(of: UInt32.self) { group in
      for number in 0..<8 {
        let client = (number % 2 == 0 ? device : other)
        group.addTask {
          let response = try await client.authentication(party.authenticationRequest()).authenticate([
            KeyUnlock(key: key, authentication: UAFDevice.authentication(.devicePasscode))
          ])
          let claimed = try AuthenticationResponse(parsing: Array(response.message.utf8), versions: [.v1_1])
          return try AuthenticationAssertion(parsing: claimed.assertions[0].bytes).data.signCounter
        }
      }
      var counters: [UInt32] = []
      for try await counter in group { counters.append(counter) }
      return counters
    }
    #expect(counters.sorted() == Array(2...9))
  }

  #if os(Linux)
    @Test("on a TPM", .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
    func tpm() async throws {
      let tpm = try SimulatedTPM()
      let limits = TPMTimeLimits(access: .seconds(120), answer: .seconds(120))
      let keystore = TPMKeystore(try TPMAddress(tpm.address), limits: limits)
      let device = try UAFDevice(keystore: keystore)
      let party = try UAFParty()
      let key = try await device.register(.pin, with: party)
      #expect(key.aaid == "5167#1001")
      let id = try #require(try await device.vault.uafContainer())
      let made = try await device.vault.open(
        key.keyID, of: id, with: .password(SecretBytes(text: UAFDevice.pin))
      ).withRecord("signing-key") {
        try ContainerSigningKey(record: SecretBytes(copying: $0), in: device.vault)
      }
      #expect(made.origin == .tpm2)
      let finger = try await device.register(.fingerprint, with: party)
      let old = try openCopy(device, keystore)
      #expect(try await device.authenticate(key, with: party).signCounter == 2)
      #expect(try await device.authenticate(finger, with: party).signCounter == 2)
      for key in [key, finger] {
        await expectRolledBack { try await old.authenticate(key, with: party) }
      }
      // The TPM counts a wrong PIN.
      let wrong = await uafFailure {
        try await device.authenticate(key, with: party, by: UAFDevice.pin("000000"))
      }
      #expect(
        wrong == .wrongSecret(aaid: key.aaid, .lastAttemptFailed(remaining: 4, retryAfter: .zero)))
      #expect(try await device.authenticate(key, with: party).signCounter == 3)
    }
  #endif
}
