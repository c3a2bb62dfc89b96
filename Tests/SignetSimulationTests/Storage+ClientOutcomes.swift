import AccountModel
import SignetStorage

// What clients of OpenID Connect ask.
extension Storage {
  /// Takes a step of a client of OpenID Connect.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - event: Makes the events of the attempt.
  ///   - time: When.
  /// - Returns: What the client hears.
  /// - Throws: ``StorageFailure``.
  func outcomeOfClient(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    switch step {
    case .addClient(let client):
      let record = ClientRecord(
        id: client, name: client, authentication: .clientSecretBasic, delivery: .poll, created: time)
      try await addClient(record, audit: event("done"))
      return "done"
    case .revokeClient(let client):
      let isKnown = try await revokeClient(client, at: time, audit: event("done")) { event("ended \($0)") }
      return isKnown ? "done" : "nothing"
    case .backchannel(let request, let user, let expires, let messages, let operations, let client):
      var record = TransactionRecord(id: request, user: user, content: "{}", created: time, expires: expires)
      record.requester = client
      var asking = TransactionAsking()
      asking.messages = messages.map { sent in
        var message = PushAuthMessageRecord(
          id: sent.name, mechanism: sent.to, kind: "default", challenge: [4], created: time, expires: expires)
        message.transaction = request
        return (message, event("sent \(sent.name)"))
      }
      asking.sessions = operations.map { sent in
        var session = Sample.token(
          sent.name, isRegistration: false, of: user, for: sent.to, at: time, expires: expires)
        (session.transaction, session.tokenExpires) = (request, expires)
        return (session, event("sent \(sent.name)"))
      }
      let asked = BackchannelRecord(
        digest: Array(request.utf8), transaction: request, client: client, delivery: .poll,
        expires: expires + Model.grace, interval: 5)
      let outcome = try await addBackchannelRequest(
        asked, asking: record, limits: Sample.limits, by: asking
      ) { event("\($0)") }
      return "\(outcome)"
    case .poll(let request, let client):
      let found = try await pollBackchannelRequest(
        Array(request.utf8), of: client, at: time, step: 5, limit: 60)
      switch found {
      // Whoever asks too often hears no more.
      case .pending, .tooSoon: return "pending"
      case .ended(_, let transaction): return "ended \(transaction.words)"
      case .unknown, .expired, .used: return "\(found)"
      }
    case .issue(let request, let client):
      let isFirst = try await issueTokens(
        for: Array(request.utf8), of: client, at: time, pushedWithin: 0, audit: event("done"))
      return isFirst ? "done" : "refused"
    default: preconditionFailure("not of a client of OpenID Connect")
    }
  }
}

extension TransactionRecord {
  /// How it stands, as the model says it: the state, the user and what it was answered with.
  var words: String {
    // The subject of one who was deleted.
    let user = user.map { $0.hasPrefix("~") ? "nobody" : $0 }
    return "\(state) \(user ?? "-") \(decision?.container ?? uaf?.session ?? app?.mechanism ?? "-")"
  }
}
