import AccountModel
import SignetServer
import SignetServerTesting
import SignetStorage

// Steps of OpenID Connect clients.
extension Storage {
  /// Makes a step of an OpenID Connect client.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - event: Makes the events of the attempt.
  ///   - time: The time.
  /// - Returns: The outcome that the client sees.
  /// - Throws: ``StorageFailure``.
  func outcomeOfClient(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    switch step {
    case .addClient(let client):
      let delivery = Self.delivery(of: client)
      var record = ClientRecord(
        id: "\(client)", name: client, authentication: .clientSecretBasic, delivery: delivery, created: time)
      if delivery != .poll { record.notificationEndpoint = Notice.endpoint(of: client) }
      try await addClient(record, audit: event("done"))
      return "done"
    case .revokeClient(let client):
      let isKnown = try await revokeClient("\(client)", at: time, audit: event("done")) {
        event("ended \($0)")
      }
      return isKnown ? "done" : "nothing"
    case .backchannel(let request, let user, let expires, let messages, let operations, let client):
      var record = TransactionRecord(
        id: "\(request)", user: "\(user)", content: Sample.content, created: time, expires: expires)
      (record.requester, record.requirements) = (client, Traits.names(of: request))
      var authenticatorRequests = AuthenticatorRequestRecords()
      authenticatorRequests.messages = messages.map { sent in
        let message = PushAuthMessageRecord(
          id: "\(sent.name)", of: "\(request)", mechanism: "\(sent.to)", kind: "default", challenge: [4],
          created: time,
          expires: expires)
        return (message, event("sent \(sent.name)"))
      }
      authenticatorRequests.sessions = operations.map { sent in
        var session = Sample.token(
          "\(sent.name)", isRegistration: false, of: "\(user)", for: "\(sent.to)", at: time, expires: expires)
        (session.transaction, session.tokenExpires) = ("\(request)", expires)
        return (session, event("sent \(sent.name)"))
      }
      var asked = BackchannelRecord(
        digest: Array(request.utf8), transaction: "\(request)", client: "\(client)",
        delivery: Self.delivery(of: client), expires: expires + Model.grace, interval: 5)
      if asked.delivery != .poll {
        asked.sealedNotice = try BackchannelNotice(id: request, token: Notice.token(of: request)).sealed(
          for: "\(request)", under: Sample.masterKey)
      }
      let outcome = try await addBackchannelRequest(
        asked, asking: record, limits: Sample.limits, by: authenticatorRequests
      ) { event("\($0)") }
      return "\(outcome)"
    case .poll(let request, let client):
      let found = try await pollBackchannelRequest(
        Array(request.utf8), of: "\(client)", at: time, step: 5, limit: 60)
      switch found {
      case .pending: return "pending"
      case .tooSoon(let interval): return "slow down \(interval)"
      case .ended(_, let transaction): return "ended \(transaction.words)"
      case .unknown, .expired, .used: return "\(found)"
      }
    case .issue(let request, let client):
      let isFirst = try await issueTokens(
        for: Array(request.utf8), of: "\(client)", at: time, pushedWithin: 0, audit: event("done"))
      return isFirst ? "done" : "refused"
    default: preconditionFailure("not of a client of OpenID Connect")
    }
  }

  /// The registered delivery mode of a client.
  private static func delivery(of client: String) -> ClientRecord.Delivery {
    switch Traits.delivery(of: client) {
    case .poll: .poll
    case .ping: .ping
    case .push: .push
    }
  }
}

extension TransactionRecord {
  /// The state in the model's words: the state, the user and the answer.
  var words: String {
    // The subject of a deleted user.
    let user = user.map { $0.text.hasPrefix("~") ? "nobody" : $0.text }
    return
      "\(state) \(user ?? "-") \(decision?.container.text ?? uaf?.session.text ?? app?.mechanism.text ?? "-")"
  }
}
