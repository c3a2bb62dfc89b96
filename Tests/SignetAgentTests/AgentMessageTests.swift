#if os(Linux)
  import Signet
  import Testing

  import SignetAgent

  struct AgentMessageTests {
    private static let salt = [UInt8](1...32)

    @Test("a written request is read back unchanged")
    func requests() throws {
      let group = AgentFixture.office
      let requests: [AgentRequest] = [
        .state(group), .unlock(group, by: .password), .unlock(group, by: .biometrics),
        .unlock(group, by: .passcode), .lock(group), .lockAll, .watch(group),
        .newTextKey(group, label: "né\"\\"),
        .textKey(group, label: "a", salt: Self.salt),
      ]
      for request in requests { #expect(try AgentRequest(parsing: request.bytes) == request) }
      #expect(requests.filter(\.isControl).count == 6)
    }

    @Test("a written answer is read back unchanged; unnamed failures become a sentence")
    func answers() throws {
      let answers: [AgentAnswer] =
        [.done, .key(salt: Self.salt), .state(.unlocked)] + LockReason.allCases.map { .state(.locked($0)) }
        + [
          .wrongPassword(remaining: nil), .wrongPassword(remaining: 3), .passwordRequired, .lockedOut,
          .noSuchContainer,
          .appData(.locked(.idle)), .appData(.invalidLabel), .sharedSession(.refused), .sharedSession(.busy),
          .sharedSession(.protocolBroken), .sharedSession(.failed("why")),
          .sharedSession(.tampered("process 7 (gdb) traces thread 8 of this process")),
          .biometricsInvalidated, .unlockMethodNotEnabled(.biometrics), .unlockMethodNotEnabled(.passcode),
          .unlockMethodNotOffered(.biometrics), .unlockMethodNotOffered(.passcode),
        ].map { .failure($0) }
      let sensor: [BiometricFailure] = [
        .cancelled, .mismatch, .lockedOut, .busy, .timedOut, .notCapable, .notEnrolled, .notAuthorized,
        .unavailable("why"),
      ]
      let check: [DevicePasscodeFailure] = [
        .cancelled, .mismatch, .lockedOut, .accountRefused, .passcodeExpired, .busy, .timedOut, .notCapable,
        .unavailable("why"),
      ]
      let ways = sensor.map { SignetError.biometrics($0) } + check.map { .passcode($0) }
      for answer in answers + ways.map({ .failure($0) }) {
        #expect(try AgentAnswer(parsing: answer.bytes) == answer)
      }
      let other = AgentAnswer.failure(.vault(.busy))
      #expect(
        try AgentAnswer(parsing: other.bytes)
          == .failure(.sharedSession(.failed(SignetError.vault(.busy).description))))
    }

    @Test("a malformed answer is refused")
    func malformed() {
      let texts = [
        "", "{}", #"{"result":"what"}"#, #"{"result":"done","x":1}"#, #"{"result":"locked"}"#,
        #"{"result":"locked","reason":"none"}"#, #"{"result":"key"}"#, #"{"result":"key","salt":"AA"}"#,
        #"{"result":"failure"}"#, #"{"result":"failure","failure":"x"}"#,
        #"{"result":"failure","failure":"failed"}"#, #"{"result":"failure","failure":"tampered"}"#,
        #"{"result":"failure","failure":"biometrics"}"#,
        #"{"result":"failure","failure":"biometrics","reason":"x"}"#,
        #"{"result":"failure","failure":"passcode","reason":"x"}"#,
        #"{"result":"failure","failure":"notEnabled","reason":"password"}"#,
        #"{"result":"failure","failure":"wrongPassword","remaining":-1}"#,
        #"{"result":"failure","failure":"wrongPassword","remaining":99999999999}"#,
      ]
      for text in texts {
        #expect(throws: MalformedMessage.self, "\(text)") { try AgentAnswer(parsing: Array(text.utf8)) }
      }
    }

    @Test("lengths are bounded, and only greetings of this version are accepted")
    func framing() {
      let lengths = AgentProtocol.Lengths(json: 4096, secret: 4096)
      #expect(AgentProtocol.Lengths(parsing: lengths.bytes) == lengths)
      for (json, secret) in [(0, 0), (4097, 0), (1, 4097)] {
        #expect(
          AgentProtocol.Lengths(parsing: AgentProtocol.Lengths(json: json, secret: secret).bytes) == nil)
      }
      #expect(AgentProtocol.Lengths(parsing: []) == nil)
      let nonce = [UInt8](1...16)
      for welcome in AgentProtocol.Welcome.allCases {
        let parsed = AgentProtocol.parse(greeting: AgentProtocol.greeting(welcome, nonce: nonce))
        #expect(parsed?.welcome == welcome && parsed?.nonce == nonce)
      }
      for index in 0...5 {
        var greeting = AgentProtocol.greeting(.yes, nonce: nonce)
        greeting[index] ^= 0x10
        #expect(AgentProtocol.parse(greeting: greeting) == nil)
      }
    }
  }
#endif
