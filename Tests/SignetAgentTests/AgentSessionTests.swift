#if os(Linux)
  import Signet
  import SignetAgent
  import SignetCrypto
  import SignetIntegrity
  import SignetPolicy
  import SignetProtocol
  import SignetServer
  import SignetServerTesting
  import SignetStorage
  import SignetTesting
  import SignetTestKit
  import SignetVault
  import Synchronization
  import Testing

  @Suite(.timeLimit(.minutes(10))) struct AgentSessionTests {
    @Test("the agent locks with the screen, before sleep, and when logind disappears")
    func screen() async throws {
      let folder = try TemporaryFolder()
      let server = try await TestServer(
        directory: folder.path, protection: .device, derivation: .insecureForTests)
      let transport = try CurlTransport(
        ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
      let path = folder.file("device")
      let device = Device(
        vault: try Vault.forTests(path)
      ) { _ throws(TransportFailure) in transport }
      let user = UserID("alice")
      try await UserService(server.context).add(user, by: .local)
      let code = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local).code
      let container = try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
      await server.stop()

      let screen = SimulatedScreenLock()
      let fixture = try AgentFixture(device: device, screen: screen, container: container)
      let session = fixture.session
      var sealed: [UInt8] = []
      for (event, reason) in [(ScreenLockEvent.locked, LockReason.screenLocked), (.willSleep, .suspended)] {
        try await session.unlock()
        sealed = try await session.encrypt([1, 2, 3], label: "notes")
        #expect(try await session.decrypt(sealed, label: "notes") == [1, 2, 3])
        await screen.send(event)
        #expect(try await session.state() == .locked(reason))
        await #expect(throws: SignetError.appData(.locked(reason))) {
          try await session.decrypt(sealed, label: "notes")
        }
      }
      try await session.unlock()
      await screen.send(.unlocked)
      #expect(try await session.state() == .unlocked)
      screen.fail(.connectionLost("gone"))
      // The agent does not report that it has seen the failure; if it never did, this loop would not end.
      while try await session.state() == .unlocked {}
      #expect(try await session.state() == .locked(.unobserved))
      try await session.unlock()
      #expect(try await session.decrypt(sealed, label: "notes") == [1, 2, 3])
      try await fixture.stop()
    }

    @Test(
      "a tampered agent refuses the next unlock with the reason; the wipe reaction wipes all and notifies apps",
      arguments: [Reaction.refuse, .wipeSession])
    func tampered(_ reaction: Reaction) async throws {
      let folder = try TemporaryFolder()
      let server = try await TestServer(
        directory: folder.path, protection: .device, derivation: .insecureForTests)
      let transport = try CurlTransport(
        ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
      let path = folder.file("device")
      let attack = Attack()
      let integrity = try Integrity(guards: [attack], settings: IntegritySettings(reaction: reaction))
      let device = Device(
        vault: try Vault.forTests(path),
        integrity: IntegrityGate(integrity)
      ) { _ throws(TransportFailure) in transport }
      let user = UserID("alice")
      try await UserService(server.context).add(user, by: .local)
      let code = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local).code
      let container = try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
      await server.stop()
      let fixture = try AgentFixture(device: device, container: container)
      let session = fixture.session
      try await session.unlock()
      let key = try await session.newTextKey(label: "notes")
      attack.set(true)
      await #expect(
        throws: SignetError.sharedSession(.tampered("process 7 (gdb) traces thread 8 of this process"))
      ) { try await session.unlock() }
      if reaction == .refuse {
        #expect(try await session.state() == .unlocked)
        try key.withKey { _ in }
      } else {
        #expect(try await session.state() == .locked(.tampered))
        await #expect(throws: SignetError.appData(.locked(.tampered))) {
          try await session.newTextKey(label: "notes")
        }
        // The agent's notification arrives with a delay; if it never did, this loop would not end.
        var reason: AppDataFailure?
        while reason == nil {
          do throws(AppDataFailure) { try key.withKey { _ in } } catch { reason = error }
        }
        #expect(reason == .locked(.tampered))
      }
      attack.set(false)
      try await session.unlock()
      #expect(try await session.state() == .unlocked)
      try await fixture.stop()
    }

    @Test(
      "a finger matched by the agent unlocks; failures keep their names, and a hang-up cancels")
    func biometrics() async throws {
      let folder = try TemporaryFolder()
      let server = try await TestServer(
        directory: folder.path,
        protection: .biometricOrPassword(
          PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3)),
        derivation: .insecureForTests)
      let transport = try CurlTransport(
        ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
      let path = folder.file("device")
      let vault = try Vault.forTests(path)
      let sensor = SimulatedBiometrics()
      let device = Device(vault: vault, biometrics: sensor) { _ throws(TransportFailure) in transport }
      let user = UserID("alice")
      try await UserService(server.context).add(user, by: .local)
      let code = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local).code
      let container = try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(password: "Signal 42 tower"))
      await server.stop()
      let password = SharedSecretBox(SecretBytes(copying: Array("Signal 42 tower".utf8)))
      let fixture = try AgentFixture(device: device, container: container)
      let session = fixture.session
      let finger = Authentication.biometrics(reason: "Unlock")
      await #expect(throws: SignetError.unlockMethodNotEnabled(.biometrics)) {
        try await session.unlock(by: finger)
      }
      try await device.enableBiometrics(for: container, password: password)
      try await session.unlock(by: finger)
      #expect(try await session.state() == .unlocked)
      for failure in [BiometricFailure.mismatch, .lockedOut, .unavailable("x")] {
        sensor.queue(.failure(failure))
        await #expect(throws: SignetError.biometrics(failure)) { try await session.unlock(by: finger) }
      }
      await #expect(throws: SignetError.unlockMethodNotOffered(.passcode)) {
        try await session.unlock(
          by: .passcode(reason: "Unlock", conversation: ScriptedPasscodeConversation("1234")))
      }
      await #expect(throws: SignetError.passcode(.cancelled)) {
        try await session.unlock(
          by: .passcode(reason: "Unlock", conversation: ScriptedPasscodeConversation(nil)))
      }
      sensor.set(.ready(.simulated(fingers: 2)))
      await #expect(throws: SignetError.biometricsInvalidated) { try await session.unlock(by: finger) }
      try await fixture.stop()

      let patient = PatientSensor()
      let waiting = Device(vault: vault, biometrics: patient) { _ throws(TransportFailure) in transport }
      let other = try AgentFixture(device: waiting, container: container)
      let app = other.session
      let task = Task { try await app.unlock(by: finger) }
      await patient.next()
      task.cancel()
      await #expect(throws: SignetError.biometrics(.cancelled)) { try await task.value }
      // The match in the agent ends too; if it did not, this would not end.
      await patient.next()
      try await other.stop()
    }
  }

  /// A guard that finds a tracer on demand.
  private final class Attack: Guard {
    let name = "attack"
    private let isOn = Mutex(false)
    func set(_ isOn: Bool) { self.isOn.withLock { $0 = isOn } }

    func examine() -> [Evidence] {
      isOn.withLock(\.self) ? [Evidence(.tracer, "process 7 (gdb) traces thread 8 of this process")] : []
    }
  }

  /// A sensor without touches; it reports when a match begins and when it was cancelled.
  private final class PatientSensor: BiometricGate {
    private let events = AsyncStream<Void>.makeStream()

    func state() async throws(BiometricFailure) -> BiometricState { .ready(.simulated(fingers: 1)) }

    func match(
      _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
    ) async throws(BiometricFailure) -> EnrolledSet {
      events.continuation.yield()
      for await _ in AsyncStream<Never>.makeStream().stream {}  // ends with the task
      events.continuation.yield()
      throw .cancelled
    }

    func endLockout() async {}

    func next() async { for await _ in events.stream { break } }
  }
#endif
