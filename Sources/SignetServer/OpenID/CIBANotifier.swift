package import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
package import SignetStorage
import SignetSystem

/// Notifies clients that a request has ended (CIBA sections 10.2 and 10.3).
///
/// The notice and its URL come from the request and the client's registration. The row of the outbox contains neither; it
/// only triggers the delivery.
struct CIBANotifier: OutboxDelivery {
  let channel = OutboxChannel.ciba

  private let context: ServiceContext
  private let transport: any HTTPTransport
  private let maker: IDTokenSigner

  /// Creates a notifier; `nil` if the server has no transport for notices.
  init?(_ context: ServiceContext) {
    guard let transport = context.notices else { return nil }
    self.context = context
    self.transport = transport
    maker = IDTokenSigner(context)
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
    else { return .failed("the client's endpoint is missing, or its notification token cannot be decrypted") }
    // Tokens issued in an earlier attempt are not sent again.
    if request.issued != nil, try await maker.lapse(of: transaction) != nil {
      return .failed("the user is not active, or the authenticator that accepted is no longer active")
    }
    let body: JSONObject
    switch try await content(for: request, transaction, client, notice) {
    case .nothing: return .needless
    case .changed: return .again(after: nil, "the authenticator that accepted became inactive meanwhile")
    case .body(let found): body = found
    }
    let message = HTTPRequest(
      method: .post, url: url,
      headers: [("Authorization", "Bearer \(notice.token)"), ("Content-Type", "application/json")],
      body: body.bytes)
    do throws(TransportFailure) {
      return Self.outcome(of: try await transport.send(message))
    } catch {
      return error.mayPass ? .again(after: nil, error.description) : .failed(error.description)
    }
  }

  func event(of record: OutboxRecord, failure: String?) -> AuditEvent? {
    let (client, transaction) = (
      ID<ClientRecord>(unchecked: record.receiver.id), TransactionID(unchecked: record.event.subject)
    )
    guard let failure else { return .clientNotified(client: client, transaction: transaction) }
    return .clientNotNotified(client: client, transaction: transaction, reason: failure)
  }

  private enum Content {
    case nothing
    /// The state changed while the notice was prepared; the next attempt reads it again.
    case changed
    case body(JSONObject)
  }

  private func content(
    for request: BackchannelRecord, _ transaction: TransactionRecord, _ client: ClientRecord,
    _ notice: BackchannelNotice
  ) async throws -> Content {
    guard request.delivery == .push else {
      // A ping client knows the expiry time itself and needs no notice.
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
      // The user was suspended or the authenticator revoked in the meantime. The next attempt sends the client a refusal.
      guard isFirst else { return .changed }
    }
    body["auth_req_id"] = .string(notice.id)
    return .body(body)
  }

  private static func outcome(of response: HTTPResponse) -> DeliveryOutcome {
    if (200...299).contains(response.status) { return .acknowledged }
    let reason = "status \(response.status)"
    return response.mayPass ? .again(after: response.retryAfterSeconds, reason) : .failed(reason)
  }
}

/// The id and bearer token for a notice to a client, stored encrypted because the id allows token requests.
package struct BackchannelNotice: Sendable {
  /// The `auth_req_id`.
  let id: String
  /// The `client_notification_token`.
  let token: String

  package init(id: String, token: String) { (self.id, self.token) = (id, token) }

  /// Decrypts a stored notice; returns `nil` if that fails.
  init?(_ sealed: [UInt8], of transaction: TransactionID, under key: MasterKey) {
    do {
      let text = try key.open(sealed, for: .backchannelNotice(transaction: transaction))
      let object = try JSONObject(parsing: text.insecureCopy())
      (id, token) = (try object.string("id"), try object.string("token"))
    } catch { return nil }
  }

  /// Encrypts the notice under the server's master key.
  package func sealed(for transaction: TransactionID, under key: MasterKey) throws(CryptoFailure) -> [UInt8] {
    let object: JSONObject = ["id": .string(id), "token": .string(token)]
    return try key.seal(
      SecretBytes(copying: object.bytes), for: .backchannelNotice(transaction: transaction))
  }
}
