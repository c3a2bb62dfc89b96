import SignetCrypto
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import Testing

/// Approvals by typing, on a device that does not receive the transaction.
@Suite(.timeLimit(.minutes(10))) struct TypedAnswerTests {
  private func order(
    _ user: UserID?, fields: [Int]? = [0, 1], statuses: [DecisionStatus] = DecisionStatus.allCases,
    numberDigits: Int? = nil
  ) throws -> TransactionDraft {
    let form = try TransactionForm(
      template: "payment",
      fields: [
        TransactionField(.amount(MoneyAmount("250.00", currency: "EUR"))),
        TransactionField(.payee(name: "Jane Doe", account: "DE02 1203 0000")),
        TransactionField(.group([.init("a", "b")]), label: "More"),
      ])
    return TransactionDraft(
      .form(form), from: "Bank", user: user, statuses: statuses, numberDigits: numberDigits,
      typedFields: fields)
  }

  private func digits(
    _ challenge: String, _ device: ProtocolDevice, _ values: [String] = ["250 EUR", "de0212030000"]
  ) throws -> String {
    let approval = try TypedApproval(challenge: challenge, values: values)
    let (secret, container) = (try #require(device.otpSecret), try #require(device.container))
    return secret.withSecret { approval.answer(otpSecret: $0, container: container) }
  }

  private func answer(
    _ digits: TransactionService.Carried, _ id: TransactionID, _ server: ServerFixture,
    from client: String? = nil
  ) async throws -> Problem? {
    do {
      try await server.transactions.answer(digits, to: id, by: .init(.local, client: client))
      return nil
    } catch let problem as Problem { return problem }
  }

  @Test("digits for typed values approve on any of the user's devices; the decision states it")
  func approves() async throws {
    let server = try ServerFixture()
    let user = UserID("alice")
    let devices = [try await server.activate(), try await server.activate(device: 2)]
    for device in devices {
      let id = try await server.transactions.create(order(user), by: .local).record.id
      let (challenge, fields) = try await server.transactions.typed(id)
      #expect(challenge.utf8.count == 8 && fields == [0, 1])
      let right = try digits(challenge, device)
      #expect(try await answer(.typed(right), id, server) == nil)
      #expect(try await server.lastReason() == "typed answer")
      // A lost answer can be requested again.
      #expect(try await answer(.typed(right), id, server) == nil)
      let (found, container) = try await server.transactions.find(id)
      #expect(found.state == .accepted && container?.id == device.container)
      #expect(found.decision?.jws == nil && found.decision?.isTyped == true)
      // They are wrong for another transaction with the same content.
      let next = try await server.transactions.create(order(user), by: .local).record.id
      #expect(try await answer(.typed(right), next, server)?.code == .transactionWrongAnswer)
      try await server.transactions.withdraw(next, reason: "", by: .local)
    }
  }

  @Test("other, missing or reordered values and another user's device give a wrong answer")
  func refuses() async throws {
    let server = try ServerFixture { $0.codes.freeAttempts = 100 }
    let (device, other) = (try await server.activate(), try await server.activate("bob", device: 2))
    let id = try await server.transactions.create(order(UserID("alice")), by: .local).record.id
    let challenge = try await server.transactions.typed(id).challenge
    let right = ["250 EUR", "DE0212030000"]
    for values in [
      [], ["250 EUR"], ["2500 EUR", right[1]], ["250 CHF", right[1]], ["250", right[1]],
      [right[1], right[0]], right + ["1"], ["250 EUR", "DE0212030001"],
    ] {
      let wrong = try digits(challenge, device, values)
      #expect(try await answer(.typed(wrong), id, server)?.code == .transactionWrongAnswer, "\(values)")
      #expect(try await server.lastReason() == "wrong typed answer")
    }
    for wrong in [
      try digits(challenge, other, right), "", "1234567", try digits(challenge, device, right) + "0",
    ] {
      #expect(try await answer(.typed(wrong), id, server)?.code == .transactionWrongAnswer)
    }
    let container = try #require(device.container)
    #expect(try await server.storage.credential(ID(of: container))?.failures == 12)
    // One kind of digits is not accepted as the other kind.
    let good = try digits(challenge, device, right)
    #expect(try await answer(.scanned(good), id, server)?.code == .transactionWrongAnswer)
    #expect(try await server.lastReason() == "wrong offline answer")
    #expect(try await server.transactions.find(id).0.state == .pending)
    #expect(try await answer(.typed(good), id, server) == nil)
    let late = try await server.transactions.create(order(UserID("alice")), by: .local).record.id
    let lateDigits = try digits(await server.transactions.typed(late).challenge, device, right)
    server.clock.advance(by: 300)
    #expect(try await problem { _ = try await server.transactions.typed(late) } == .transactionExpired)
    #expect(try await answer(.typed(lateDigits), late, server)?.code == .transactionExpired)
  }

  @Test("guessing waits and locks as for codes; the user at another address continues")
  func boundsGuesses() async throws {
    let server = try ServerFixture { $0.codeAttempts = 6 }
    let user = UserID("alice")
    let device = try await server.activate()
    let id = try await server.transactions.create(order(user), by: .local).record.id
    let right = try digits(await server.transactions.typed(id).challenge, device)
    let wrong = TransactionService.Carried.typed(right == "00000000" ? "00000001" : "00000000")
    for _ in 1...4 {
      #expect(try await answer(wrong, id, server, from: "198.51.100.7")?.code == .transactionWrongAnswer)
    }
    for digits in [wrong, TransactionService.Carried.typed(right), .scanned(right)] {
      let problem = try await answer(digits, id, server, from: "198.51.100.7")
      #expect(problem?.code == .transactionWaiting && problem?.retryAfter == 30)
    }
    #expect(try await server.lastReason() == "not checked: the address must wait")
    // Codes from this address wait as well: there is one count for both.
    #expect(
      try await server.codes.validate("x", user: user, by: .init(.local, client: "198.51.100.7")).value
        == .waiting(seconds: 30))
    #expect(try await answer(.typed("x"), id, server, from: "a b")?.code == .malformed)
    let container = try #require(device.container)
    #expect(try await server.storage.credential(ID(of: container))?.failures == 4)
    for client in ["192.0.2.1", "192.0.2.2"] {
      #expect(try await answer(wrong, id, server, from: client)?.code == .transactionWrongAnswer)
    }
    #expect(try await answer(.typed(right), id, server, from: "192.0.2.3")?.code == .transactionWrongAnswer)
    #expect(try await server.lastReason()?.contains("unlock the user") == true)
    try await server.codes.unlock(user, by: .local)
    #expect(try await answer(.typed(right), id, server, from: "192.0.2.3") == nil)
  }

  @Test("typed approval requires one user, an offered acceptance, no number and typable fields")
  func hasToBeWanted() async throws {
    let server = try ServerFixture()
    let user = UserID("alice")
    let device = try await server.activate()
    for (order, code) in [
      (try order(nil), Problem.Code.malformed), (try order(user, statuses: [.denied]), .malformed),
      (try order(user, numberDigits: 4), .malformed), (try order(user, fields: [2]), .contentRefused),
      (try order(user, fields: [3]), .contentRefused), (try order(user, fields: [1, 0]), .contentRefused),
      (TransactionDraft(.text("x"), from: "Bank", user: user, typedFields: [0]), .contentRefused),
    ] {
      #expect(try await problem { _ = try await server.transactions.create(order, by: .local) } == code)
    }
    let unwanted = try await server.transactions.create(order(user, fields: nil), by: .local).record.id
    #expect(try await problem { _ = try await server.transactions.typed(unwanted) } == .malformed)
    #expect(try await answer(.typed("12345678"), unwanted, server)?.code == .malformed)
    #expect(try await problem { _ = try await server.transactions.typed("none") } == .unknown)
    #expect(try await answer(.typed("12345678"), "none", server)?.code == .unknown)
    // A plain text: the challenge alone.
    let plain = TransactionDraft(.text("Sign in"), from: "Bank", user: user, typedFields: [])
    let id = try await server.transactions.create(plain, by: .local).record.id
    let right = try digits(await server.transactions.typed(id).challenge, device, [])
    #expect(try await answer(.typed(right), id, server) == nil)
  }
}
