import SignetJSON
import SignetStorage
import SignetTransport
import SignetWire

/// Tells clients that a request of theirs has ended (CIBA sections 10.2 and 10.3).
///
/// What is told, and where, follows from the request and from the client's registration: the row of the outbox only says that it is
/// time.
struct CIBANotifier: OutboxDelivery {
  let channel = OutboxChannel.ciba

  private let context: ServiceContext
  private let transport: any HTTPTransport
  private let maker: IDTokenSigner

  /// A notifier; `nil` where nothing carries notices.
  init?(_ context: ServiceContext) {
    guard let transport = context.notices else { return nil }
    (self.context, self.transport, maker) = (context, transport, IDTokenSigner(context))
  }

  func hasReceivers() async throws(StorageFailure) -> Bool {
    try await context.storage.clients().contains { $0.delivery != .poll && $0.revoked == nil }
  }

  func attempt(_ record: OutboxRecord) async throws -> DeliveryOutcome {
    guard record.event.kind == .requestEnded,
      let transaction = try await context.storage.transaction(TransactionID(unchecked: record.event.subject)),
      transaction.state != .pending,
      let request = try await context.storage.backchannelRequest(ofTransaction: transaction.id),
      request.client == ID(unchecked: record.receiver.id),
      let client = try await context.storage.client(request.client), client.revoked == nil
    else { return .needless }
    guard let url = client.notificationEndpoint, let sealed = request.sealedNotice,
      let notice = BackchannelNotice(sealed, of: transaction.id, under: context.masterKey)
    else { return .failed("what the client is told with can't be opened") }
    // Tokens that were on their way before are not sent again.
    if request.issued != nil, try await maker.lapse(of: transaction) != nil {
      return .failed("the user is not active, or what the user accepted with is out of use")
    }
    let body: JSONObject
    switch try await content(for: request, transaction, client, notice) {
    case .nothing: return .needless
    case .changed: return .again(told: nil, "what the user accepted with went out of use meanwhile")
    case .body(let found): body = found
    }
    let message = HTTPRequest(
      method: .post, url: url,
      headers: [("Authorization", "Bearer \(notice.token)"), ("Content-Type", "application/json")],
      body: body.bytes)
    do throws(TransportFailure) {
      return Self.outcome(of: try await transport.send(message))
    } catch {
      return error.mayPass ? .again(told: nil, error.description) : .failed(error.description)
    }
  }

  func event(of record: OutboxRecord, failure: String?) -> AuditEvent? {
    let (client, transaction) = (
      ID<ClientRecord>(unchecked: record.receiver.id), TransactionID(unchecked: record.event.subject)
    )
    guard let failure else { return .clientTold(client: client, transaction: transaction) }
    return .clientNotTold(client: client, transaction: transaction, reason: failure)
  }

  /// What a notice says.
  private enum Content {
    case nothing
    /// What it was to say is not so any more; looked at anew, it is something else.
    case changed
    case body(JSONObject)
  }

  private func content(
    for request: BackchannelRecord, _ transaction: TransactionRecord, _ client: ClientRecord,
    _ notice: BackchannelNotice
  ) async throws -> Content {
    guard request.delivery == .push else {
      // Who asks then hears nothing but that, which it knows by itself.
      return transaction.state == .expired ? .nothing : .body(["auth_req_id": .string(notice.id)])
    }
    if let refusal = try await maker.refusal(of: request, transaction) {
      var body = refusal.json
      body["auth_req_id"] = .string(notice.id)
      return .body(body)
    }
    let time = request.issued ?? context.clock.now
    var body = try await maker.tokens(for: request, transaction, at: time, authReqID: notice.id).json
    if request.issued == nil {
      let event = TokenGrant.event(context, transaction, client)
      let isFirst = try await context.storage.issueTokens(
        for: request.digest, of: client.id, at: time, pushedWithin: BackchannelRecord.noticeLifetime,
        audit: event)
      // The user was suspended, or the authenticator revoked, since that was looked at: the client is told that there are none.
      guard isFirst else { return .changed }
    }
    body["auth_req_id"] = .string(notice.id)
    return .body(body)
  }

  private static func outcome(of response: HTTPResponse) -> DeliveryOutcome {
    if (200...299).contains(response.status) { return .acknowledged }
    let reason = "status \(response.status)"
    return response.mayPass ? .again(told: response.retryAfterSeconds, reason) : .failed(reason)
  }
}
