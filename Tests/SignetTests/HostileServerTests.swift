import Signet
import SignetCrypto
import SignetProtocol
import SignetServerTesting
import Testing

/// For each invalid answer of a server, the device fails with the right error and stores nothing.
@Suite struct HostileServerTests {
  private static let html = HTTPResponse(status: 200, body: Array("<html>hello</html>".utf8))

  /// Runs an activation that must fail and returns the failure.
  private func failure(
    _ lies: HostileServer.Lies, protection: ProtectionPolicy = .device, requests: [String]
  ) async throws -> SignetError? {
    let code = try ActivationCode.made()
    let server = HostileServer(code, protection: protection, lies)
    let fixture = try DeviceFixture(server)
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.activate(code, password: "correct horse")
    }
    #expect(try await fixture.isEmpty)
    #expect(server.requests == requests)
    return failure
  }

  private func changing(_ change: (inout HostileServer.Lies) throws -> Void) rethrows -> HostileServer.Lies {
    var lies = HostileServer.Lies()
    try change(&lies)
    return lies
  }

  @Test("control: an honest stand-in server activates")
  func activates() async throws {
    let code = try ActivationCode.made()
    let fixture = try DeviceFixture(HostileServer(code))
    #expect(try await fixture.activate(code).isConfirmed)
  }

  @Test func refusesReceiptsThatProveNothing() async throws {
    let other = try ServerURL("evil.example.org/main")
    for lies in [
      changing { $0.receiptKeyIsRight = false }, changing { $0.receiptUser = UserID("bob") },
      changing { $0.receiptServer = other }, changing { $0.transcriptIsRight = false },
      changing { $0.confirmationIsOfThis = false },
      changing { $0.receiptType = SignedMessage.activationType },
    ] {
      #expect(try await failure(lies, requests: ["start", "finish"]) == .serverNotAuthentic)
    }
  }

  @Test(arguments: [
    "", "{}", "[]", "<html>", #"{"message":7}"#, #"{"message":""}"#, #"{"message":"a.b.c"}"#, "{\"mess",
  ])
  func refusesAnswersToFinish(_ body: String) async throws {
    let lies = changing { $0.answers["finish"] = HTTPResponse(status: 200, body: Array(body.utf8)) }
    #expect(try await failure(lies, requests: ["start", "finish"]) == .serverNotAuthentic)
  }

  @Test(arguments: ["", "{}", "[]", "<html>", #"{"handshake":"h","offer":"e30"}"#, #"{"handshake":"h","off"#])
  func refusesAnswersToStart(_ body: String) async throws {
    let lies = changing { $0.answers["start"] = HTTPResponse(status: 200, body: Array(body.utf8)) }
    #expect(try await failure(lies, requests: ["start"]) == .unexpectedAnswer(status: 200))
  }

  @Test func refusesWeakAndExpensiveKeyDerivation() async throws {
    for costs in [
      Argon2id(memoryKiB: 8, passes: 1, lanes: 1), Argon2id(memoryKiB: 19_455, passes: 2, lanes: 1),
      Argon2id(memoryKiB: 2_097_152, passes: 2, lanes: 1),
      Argon2id(memoryKiB: 19_456, passes: 1000, lanes: 1),
    ] {
      let lies = changing { lies in
        lies.offer = { bytes in
          Array(
            String(decoding: bytes, as: UTF8.self).replacing(
              #""memory":19456,"passes":2"#,
              with: #""memory":\#(costs.memoryKiB),"passes":\#(costs.passes)"#
            ).utf8)
        }
      }
      #expect(try await failure(lies, requests: ["start"])?.number == 204)
    }
  }

  @Test(
    "excessive derivation costs within the protocol's range are refused by name")
  func refusesCostsBeyondTheDevice() async throws {
    let lies = changing { lies in
      lies.offer = { bytes in
        Array(
          String(decoding: bytes, as: UTF8.self).replacing(
            #""memory":19456,"passes":2"#, with: #""memory":1048576,"passes":16"#
          ).utf8)
      }
    }
    let failure = try await failure(lies, requests: ["start"])
    guard case .vault(.costTooHigh(let cost, _))? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(cost == Argon2id(memoryKiB: 1_048_576, passes: 16, lanes: 1))
    #expect(failure?.description.contains("have the server's operator ask for less") == true)
  }

  @Test func refusesAnotherServerID() async throws {
    let other = try ServerURL("evil.example.org/main")
    let lies = changing { $0.offerServer = other }
    #expect(try await failure(lies, requests: ["start"]) == .serverNameMismatch(offered: other))
  }

  @Test func refusesProtectionThatItDoesNotKnow() async throws {
    let lies = changing { lies in
      lies.offer = { bytes in
        Array(
          String(decoding: bytes, as: UTF8.self).replacing(#""type":"device""#, with: #""type":"none""#).utf8)
      }
    }
    #expect(try await failure(lies, requests: ["start"])?.number == 204)
  }

  @Test func namesWhatTheServerAnswers() async throws {
    let busy = Problem(.busy, "Try again in a moment.")
    for name in ["start", "finish"] {
      let requests = name == "start" ? ["start"] : ["start", "finish"]
      for (answer, expected) in [
        (
          HTTPResponse(status: 500, body: Problem(.serverFailure).bytes),
          SignetError.refused(Problem(.serverFailure))
        ),
        (HTTPResponse(status: 503, body: busy.bytes), .refused(busy)),
        (HTTPResponse(status: 502, body: Array("<html>Bad gateway".utf8)), .unexpectedAnswer(status: 502)),
        (HTTPResponse(status: 404), .unexpectedAnswer(status: 404)),
        (HTTPResponse(status: 403, body: Problem(.activationRefused).bytes), .activationRefused),
      ] {
        let lies = changing { $0.answers[name] = answer }
        #expect(try await failure(lies, requests: requests) == expected)
      }
      for cause in [
        TransportFailure.redirectRefused(status: 302), .responseTooLarge(limit: 1), .timedOut, .cancelled,
      ] {
        let lies = changing { $0.failures[name] = cause }
        #expect(try await failure(lies, requests: requests) == .transport(cause))
      }
    }
  }

  @Test(
    "a confirmation answered with another state than active confirms nothing",
    arguments: ["", "{}", #"{"status":"pending"}"#, "<html>"])
  func readsTheAnswerToConfirm(_ body: String) async throws {
    let code = try ActivationCode.made()
    let lies = changing { $0.answers["confirm"] = HTTPResponse(status: 200, body: Array(body.utf8)) }
    let fixture = try DeviceFixture(HostileServer(code, lies))
    await #expect(throws: SignetError.unexpectedAnswer(status: 200)) { try await fixture.activate(code) }
    #expect(try await fixture.device.containers().isEmpty)
    #expect(try await fixture.device.unconfirmedContainers().count == 1)
  }

  @Test func refusesTransactionListsThatAreNone() async throws {
    let code = try ActivationCode.made()
    let address = ListAddress(
      server: code.server, container: ContainerID("c1"),
      request: [UInt8](repeating: 0, count: 16))
    let foreign = try TransactionList([]).sealed(
      for: address, by: HostileServer.signingKey, to: P256.KeyAgreement.PrivateKey().publicKey)
    for body in ["", "{}", "a.b.c.d.e", foreign] {
      let lies = changing {
        $0.answers["transactions"] = HTTPResponse(status: 200, body: Array(body.utf8))
      }
      let fixture = try DeviceFixture(HostileServer(code, lies))
      let container = try await fixture.activate(code)
      await #expect(throws: SignetError.unexpectedAnswer(status: 200)) {
        try await fixture.device.pendingTransactions(for: container)
      }
    }
  }

  @Test func namesWhatBecameOfADecision() async throws {
    let code = try ActivationCode.made()
    let request = try TransactionRequest(
      id: TransactionID("t1"), text: "Pay", created: 1, expires: .max, statuses: [.accepted])
    for (answer, expected) in [
      (HTTPResponse(status: 200, body: Array(#"{"status":"accepted"}"#.utf8)), SignetError?.none),
      (HTTPResponse(status: 200, body: Array(#"{"status":"denied"}"#.utf8)), .unexpectedAnswer(status: 200)),
      (Self.html, .unexpectedAnswer(status: 200)),
      (HTTPResponse(status: 404, body: Problem(.unknown).bytes), .noSuchTransaction),
      (HTTPResponse(status: 409, body: Problem(.transactionDecided).bytes), .transactionDecided),
      (HTTPResponse(status: 410, body: Problem(.transactionExpired).bytes), .transactionExpired),
      (HTTPResponse(status: 409, body: Problem(.transactionCancelled).bytes), .transactionCancelled),
      (
        HTTPResponse(status: 403, body: Problem(.transactionWrongNumber, "2 left").bytes),
        .wrongNumber(Problem(.transactionWrongNumber, "2 left"))
      ),
      (HTTPResponse(status: 401, body: Problem(.containerUnknown).bytes), .containerUnknown),
    ] {
      let lies = changing { $0.answers["decision"] = answer }
      let server = HostileServer(code, lies)
      let fixture = try DeviceFixture(server)
      let container = try await fixture.activate(code)
      var found: SignetError?
      do throws(SignetError) {
        try await fixture.device.decide(request, .accepted, with: container)
      } catch { found = error }
      #expect(found == expected)
      // A decision that is not offered, or on an ended transaction, is not sent.
      let count = server.requests.count
      await #expect(throws: SignetError.decisionNotAllowed) {
        try await fixture.device.decide(request, .denied, with: container)
      }
      await #expect(throws: SignetError.numberRequired(digits: 0)) {
        try await fixture.device.decide(
          request, .accepted, number: MatchingNumber("12"), with: container)
      }
      let ended = try TransactionRequest(id: TransactionID("t1"), text: "Pay", created: 1, expires: 2)
      await #expect(throws: SignetError.transactionExpired) {
        try await fixture.device.decide(ended, .accepted, with: container)
      }
      #expect(server.requests.count == count)
    }
  }

  @Test func asksForThePasswordWhereThereIsOne() async throws {
    let code = try ActivationCode.made()
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let fixture = try DeviceFixture(HostileServer(code, protection: .password(policy, .lock(limit: 2))))
    let container = try await fixture.activate(code, password: "correct horse")
    let device = fixture.device
    await #expect(throws: SignetError.passwordRequired) { try await device.oneTimePassword(for: container) }
    for remaining in [1, 0] {
      let failure = await #expect(throws: SignetError.self) {
        try await device.oneTimePassword(for: container, by: .password(secret("wrong horse")))
      }
      #expect([.wrongPassword(remaining: remaining), .lockedOut].contains(failure))
    }
    await #expect(throws: SignetError.lockedOut) {
      try await device.oneTimePassword(for: container, by: .password(secret("correct horse")))
    }
    // Operations with the server alone are still possible.
    #expect(try await device.container(container.id) == container)
  }
}
