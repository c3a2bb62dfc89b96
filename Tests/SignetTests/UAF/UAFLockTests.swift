import Signet
import SignetCrypto
import SignetTesting
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

@Suite("UAF keys: wrong PINs and passwords")
struct UAFLockTests {
  private let device: UAFDevice
  private let party: UAFParty

  init() throws {
    device = try UAFDevice()
    party = try UAFParty()
  }

  private static let wrong = UAFDevice.pin("000000")

  private func wait(_ seconds: Int64, _ remaining: Int) -> LockStatus {
    .lastAttemptFailed(remaining: remaining, retryAfter: .seconds(seconds))
  }

  private func fail(_ key: UAFKey, on device: UAFDevice? = nil) async -> UAFFailure? {
    await uafFailure { try await (device ?? self.device).authenticate(key, with: party, by: Self.wrong) }
  }

  @Test(
    "waits of 0, 0, 60 and 180 seconds, and the fifth failure locks permanently",
    arguments: [UAFAuthenticator.Kind.pin, .password])
  func ladder(kind: UAFAuthenticator.Kind) async throws {
    let key = try await device.register(kind, with: party)
    let client = device.client
    #expect(try await client.protectionStatus(of: key) == .unlocked)
    for (remaining, seconds) in [(4, Int64(0)), (3, 0), (2, 60), (1, 180)] {
      let status = wait(seconds, remaining)
      #expect(await fail(key) == .wrongSecret(aaid: key.aaid, status))
      #expect(try await client.protectionStatus(of: key) == status)
      guard seconds > 0 else { continue }
      // Neither a right nor a wrong secret is tried, by any process, and none of them counts.
      device.clock.advance(by: .seconds(seconds - 1))
      let rest = UAFFailure.coolingDown(aaid: key.aaid, wait(1, remaining))
      #expect(await fail(key) == rest)
      let other = try device.opened()
      #expect(await uafFailure { try await other.authenticate(key, with: party) } == rest)
      device.clock.adjustWallClock(by: -86_400)
      #expect(await fail(key) == rest)
      device.clock.advance(by: .seconds(1))
    }
    let last = await fail(key)
    #expect(last?.clientError == .userLockout && last?.asmStatusCode == 0x10 && last?.isRecoverable == false)
    #expect(try await client.protectionStatus(of: key) == .lockedOut)
    device.clock.advance(by: .seconds(86_400))
    let locked = await uafFailure { try await device.authenticate(key, with: party) }
    #expect(locked?.clientError == .userLockout)
    // The way to recover: a new registration.
    let again = try await device.register(kind, with: party)
    #expect(try await device.authenticate(again, with: party).signCounter == 2)
  }

  @Test("a success resets the failures")
  func success() async throws {
    let key = try await device.register(.pin, with: party)
    for _ in 0..<2 { _ = await fail(key) }
    try await device.authenticate(key, with: party)
    #expect(try await device.client.protectionStatus(of: key) == .unlocked)
    #expect(await fail(key) == .wrongSecret(aaid: key.aaid, wait(0, 4)))
  }

  @Test("each account has its own PIN and lock")
  func accounts() async throws {
    let alice = try await device.register(.pin, with: party)
    let bob = try await device.register(.pin, with: party, "bob", by: UAFDevice.pin("161803"))
    for _ in 0..<3 { _ = await fail(alice) }
    #expect(try await device.client.protectionStatus(of: bob) == .unlocked)
    let crossed = await uafFailure { try await device.authenticate(bob, with: party) }
    #expect(crossed == .wrongSecret(aaid: bob.aaid, wait(0, 4)))
    try await device.authenticate(bob, with: party, by: UAFDevice.pin("161803"))
  }

  @Test(
    "an invalid PIN or password is refused before a key is created",
    arguments: [
      (UAFAuthenticator.Kind.pin, "123", UAFSecretProblem.digitCount(4...64)),
      (.pin, String(repeating: "1", count: 65), .digitCount(4...64)), (.pin, "", .digitCount(4...64)),
      (.pin, "12345a", .notDigits), (.pin, "１２３４５６", .notDigits), (.password, "", .text(.empty)),
      (.password, "a\u{7}b", .text(.disallowedCharacter)),
    ])
  func unusable(kind: UAFAuthenticator.Kind, secret: String, problem: UAFSecretProblem) async throws {
    let registration = try await device.registration(party.registrationRequest())
    let aaid = try await device.aaid(kind)
    let failure = await uafFailure {
      _ = try await registration.register([UAFEnrolment(aaid: aaid, authentication: UAFDevice.pin(secret))])
    }
    #expect(failure == .unusableSecret(aaid: aaid, problem) && failure?.isRecoverable == true)
    #expect(try await device.client.keys().isEmpty)
    let key = try await device.register(kind, with: party)
    let changed = await uafFailure {
      let old = kind == .pin ? UAFDevice.pin : "correct horse"
      try await device.client.changeSecret(of: key, from: Self.box(old), to: Self.box(secret))
    }
    #expect(changed == .unusableSecret(aaid: aaid, problem))
    try await device.authenticate(key, with: party)
  }

  private static func box(_ text: String) -> SharedSecretBox { SharedSecretBox(SecretBytes(text: text)) }

  @Test("a PIN change requires the old PIN, and a wrong one counts")
  func change() async throws {
    let key = try await device.register(.pin, with: party)
    let client = device.client
    let wrong = await uafFailure {
      try await client.changeSecret(of: key, from: Self.box("000000"), to: Self.box("161803"))
    }
    #expect(wrong == .wrongSecret(aaid: key.aaid, wait(0, 4)))
    let same = await uafFailure {
      try await client.changeSecret(of: key, from: Self.box(UAFDevice.pin), to: Self.box(UAFDevice.pin))
    }
    #expect(same == .unusableSecret(aaid: key.aaid, .sameAsBefore))
    try await client.changeSecret(of: key, from: Self.box(UAFDevice.pin), to: Self.box("161803"))
    #expect(
      await uafFailure { try await device.authenticate(key, with: party) }
        == .wrongSecret(aaid: key.aaid, wait(0, 4)))
    #expect(try await device.authenticate(key, with: party, by: UAFDevice.pin("161803")).signCounter == 2)
    for _ in 0..<5 {
      _ = await fail(key)
      device.clock.advance(by: .seconds(200))
    }
    let locked = await uafFailure {
      try await client.changeSecret(of: key, from: Self.box("161803"), to: Self.box("112358"))
    }
    #expect(locked?.clientError == .userLockout)
    let finger = try await device.register(.fingerprint, with: party)
    let none = await uafFailure {
      try await client.changeSecret(of: finger, from: Self.box("1"), to: Self.box("2"))
    }
    #expect(none?.clientError == .authenticatorAccessDenied)
  }

  @Test("a finger does not open a key with PIN, nor a PIN a key with finger")
  func wrongWays() async throws {
    let pin = try await device.register(.pin, with: party)
    let finger = try await device.register(.fingerprint, with: party)
    for (key, kind) in [
      (pin, UAFAuthenticator.Kind.fingerprint), (finger, .pin), (pin, .devicePasscode),
      (finger, .devicePasscode),
    ] {
      let failure = await uafFailure {
        try await device.authenticate(key, with: party, by: UAFDevice.authentication(kind))
      }
      #expect(failure?.clientError == .authenticatorAccessDenied, "\(key.kind) by \(kind)")
    }
    #expect(try await device.client.protectionStatus(of: pin) == .unlocked)
  }

  @Test("failures map to protocol statuses and to retries")
  func codes() {
    let failures: [(UAFFailure, UAFClientError, UInt16?)] = [
      (.wrongSecret(aaid: "", .unlocked), .authenticatorAccessDenied, 2),
      (.coolingDown(aaid: "", .unlocked), .authenticatorAccessDenied, 2),
      (.notRecognised(aaid: ""), .authenticatorAccessDenied, 2),
      (.wrongPasscode(aaid: ""), .authenticatorAccessDenied, 2),
      (.device(.lockedOut), .unknown, 1), (.protocol(.userLockout, ""), .userLockout, 0x10),
      (.protocol(.userCancelled, ""), .userCancelled, 3),
      (.protocol(.keyDisappearedPermanently, ""), .keyDisappearedPermanently, 9),
      (.protocol(.invalidTransactionContent, ""), .invalidTransactionContent, 4),
      (.protocol(.insufficientAuthenticatorResources, ""), .insufficientAuthenticatorResources, 0x0F),
      (.protocol(.noSuitableAuthenticator, ""), .noSuitableAuthenticator, nil),
      (.protocol(.protocolError, ""), .protocolError, nil),
    ]
    for (failure, error, status) in failures {
      #expect(failure.clientError == error && failure.asmStatusCode == status, "\(failure)")
    }
    #expect(
      failures.prefix(4).allSatisfy { $0.0.isRecoverable } && !failures[4...].contains { $0.0.isRecoverable })
  }
}

@Suite("UAF keys: fingerprint, face and device passcode")
struct UAFSystemVerificationTests {
  private let device: UAFDevice
  private let party: UAFParty

  init() throws {
    device = try UAFDevice()
    party = try UAFParty()
  }

  private func failure(_ key: UAFKey, by authentication: Authentication? = nil) async -> UAFFailure? {
    await uafFailure { try await device.authenticate(key, with: party, by: authentication) }
  }

  @Test(
    "a later enrolled finger invalidates the key",
    arguments: [UAFAuthenticator.Kind.fingerprint, .face])
  func invalidated(kind: UAFAuthenticator.Kind) async throws {
    let gate = kind == .face ? device.face : device.fingerprint
    let key = try await device.register(kind, with: party)
    let kept = try await device.register(kind, with: party, "bob", invalidates: false)
    gate.set(.ready(.simulated(fingers: 77)))
    #expect(await failure(key)?.clientError == .keyDisappearedPermanently)
    #expect(await failure(key)?.asmStatusCode == 9)
    #expect(try await device.authenticate(kept, with: party).signCounter == 2)
    // The key stays listed, so that it can be removed at the server; a new registration replaces it.
    #expect(try await device.client.keys().contains(key))
    let again = try await device.register(kind, with: party)
    #expect(try await device.authenticate(again, with: party).signCounter == 2)
    #expect(try await !device.client.keys().contains(key))
  }

  @Test("the device passcode opens a biometric key only if allowed")
  func fallback() async throws {
    let key = try await device.register(.fingerprint, with: party)
    let passcode = UAFDevice.authentication(.devicePasscode)
    #expect(await failure(key, by: passcode)?.clientError == .authenticatorAccessDenied)
    let allowed = try await device.register(.fingerprint, with: party, "bob", allowsPasscode: true)
    #expect(
      try await device.authenticate(allowed, with: party, by: UAFDevice.authentication(.devicePasscode))
        .signCounter == 2)
    #expect(try await device.authenticate(allowed, with: party).signCounter == 3)
  }

  @Test("mismatches can be tried again until five in a row lock")
  func mismatches() async throws {
    let key = try await device.register(.fingerprint, with: party)
    for _ in 0..<4 {
      device.fingerprint.queue(.failure(.mismatch))
      #expect(await failure(key) == .notRecognised(aaid: key.aaid))
    }
    try await device.authenticate(key, with: party)
    for _ in 0..<5 {
      device.fingerprint.queue(.failure(.mismatch))
      #expect(await failure(key) == .notRecognised(aaid: key.aaid))
    }
    #expect(await failure(key)?.clientError == .userLockout)
    #expect(try await device.client.protectionStatus(of: key) == .lockedOut)
  }

  @Test(
    "sensor results map to protocol statuses",
    arguments: [
      (BiometricFailure.cancelled, UAFClientError.userCancelled), (.timedOut, .userNotResponsive),
      (.lockedOut, .userLockout), (.busy, .unknown), (.unavailable("x"), .unknown),
    ])
  func sensor(said: BiometricFailure, error: UAFClientError) async throws {
    let key = try await device.register(.fingerprint, with: party)
    device.fingerprint.queue(.failure(said))
    #expect(await failure(key)?.clientError == error)
    let registration = try await device.registration(party.registrationRequest("bob"))
    device.fingerprint.queue(.failure(said))
    let enrolment = await uafFailure {
      _ = try await registration.register([
        UAFEnrolment(aaid: key.aaid, authentication: UAFDevice.authentication(.fingerprint))
      ])
    }
    #expect(enrolment?.clientError == error)
    #expect(try await device.client.keys() == [key])
  }

  @Test(
    "passcode results map to protocol statuses",
    arguments: [
      (DevicePasscodeFailure.cancelled, UAFClientError.userCancelled), (.timedOut, .userNotResponsive),
      (.lockedOut, .userLockout), (.mismatch, .authenticatorAccessDenied), (.busy, .unknown),
    ])
  func passcode(said: DevicePasscodeFailure, error: UAFClientError) async throws {
    let key = try await device.register(.devicePasscode, with: party)
    device.passcode.queue(said)
    let found = await failure(key)
    #expect(found?.clientError == error && found?.isRecoverable == (said == .mismatch))
  }

  @Test("an authenticator without sensor or enrolled finger is listed but not selectable")
  func unsupported() async throws {
    device.fingerprint.set(.notCapable)
    device.face.set(.notEnrolled)
    device.passcode.set(nil)
    let list = try await device.client.authenticators()
    #expect(list.map(\.kind) == UAFAuthenticator.Kind.allCases)
    #expect(list.map(\.isSupportedByHardware) == [true, true, false, true, false])
    #expect(list.map(\.isEnrolledInSystem) == [true, true, false, false, false])
    let registration = try await device.registration(party.registrationRequest())
    #expect(registration.candidates.map(\.isPolicyCompliant) == [true, true, true, true, true])
    #expect(registration.candidates.map(\.isUsable) == [true, true, false, false, false])
    #expect(registration.combinations.map { $0.map(\.authenticator.kind) } == [[.pin], [.password]])
    for kind in [UAFAuthenticator.Kind.fingerprint, .face, .devicePasscode] {
      let aaid = try await device.aaid(kind)
      #expect(registration.combination(with: aaid) == nil)
      let failure = await uafFailure {
        _ = try await registration.register([
          UAFEnrolment(aaid: aaid, authentication: UAFDevice.authentication(kind))
        ])
      }
      #expect(failure?.clientError == .noSuitableAuthenticator)
    }
  }

  @Test("a cleared keystore has lost its keys permanently")
  func cleared() async throws {
    let hardware = SimulatedHardware()
    let device = try UAFDevice(keystore: hardware)
    let key = try await device.register(.pin, with: party)
    hardware.clearLimits()
    let failure = await uafFailure { try await device.authenticate(key, with: party) }
    #expect(failure?.clientError == .keyDisappearedPermanently)
    hardware.fail(.counting, with: .busy)
    let busy = await uafFailure { try await device.authenticate(key, with: party) }
    #expect(busy == .device(.vault(.keystore(.busy))))
    hardware.fail(.sealing, with: .full)
    let full = await uafFailure { try await device.register(.pin, with: party, "bob") }
    #expect(full?.clientError == .insufficientAuthenticatorResources)
    #expect(try await device.client.keys() == [key])
    // The lost key is reported, and a new registration replaces it.
    let lost = try #require(try await device.device.lostCredentials().first)
    #expect(try await UAFClient.storesKeys(in: lost.container, of: device.device))
    let again = try await device.register(.pin, with: party)
    #expect(try await device.client.keys() == [again])
    #expect(try await device.device.lostCredentials().isEmpty)
    try await device.authenticate(again, with: party)
  }
}
