#if os(Linux)
  import Signet
  import SignetAgent
  import SignetServer
  import SignetTesting
  import SignetVault
  import SignetWire
  import Testing

  @Suite(.timeLimit(.minutes(2))) struct AgentSessionTests {
    @Test("the agent locks with the screen and before sleep, and once when nothing tells of them any more")
    func screen() async throws {
      let folder = try TemporaryFolder()
      let server = try await TestServer(directory: folder.path, protection: .device)
      let transport = try CurlTransport(
        ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
      let path = folder.file("device")
      let device = Device(
        vault: try Vault(directory: path, keystore: SoftwareKeystore(directory: path))
      ) { _ throws(TransportFailure) in transport }
      let user = try UserID("alice")
      try await UserService(server.context).add(user, by: "test")
      let code = try await ActivationService(server.context).invite(user, lifetime: nil, by: "test").code
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
        await #expect(throws: SignetFailure.appData(.locked(reason))) {
          try await session.decrypt(sealed, label: "notes")
        }
      }
      try await session.unlock()
      await screen.send(.unlocked)
      #expect(try await session.state() == .unlocked)
      screen.fail(.connectionLost("gone"))
      // Nobody tells when the failure has been heard of; without it this would not end.
      while try await session.state() == .unlocked {}
      #expect(try await session.state() == .locked(.unobserved))
      try await session.unlock()
      #expect(try await session.decrypt(sealed, label: "notes") == [1, 2, 3])
      try await fixture.stop()
    }
  }
#endif
