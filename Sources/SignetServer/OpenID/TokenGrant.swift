import SignetProtocol
package import SignetStorage
import SignetSystem

/// The token endpoint for the CIBA grant (sections 10.1 and 11).
package struct TokenGrant: Sendable {
  /// The longest interval between two polls, in seconds, after any number of early polls.
  private static let longestInterval: Int64 = 60

  private let context: ServiceContext
  private let maker: IDTokenSigner

  package init(_ context: ServiceContext) {
    self.context = context
    maker = IDTokenSigner(context)
  }

  /// Answers a client's token request.
  ///
  /// - Parameters:
  ///   - form: The parameters.
  ///   - client: The authenticated client.
  /// - Returns: The tokens.
  /// - Throws: ``OpenIDFailure``.
  package func answer(_ form: FormParameters, to client: ClientRecord) async throws
    -> TokenAnswer
  {
    guard let type = form["grant_type"] else {
      throw OpenIDFailure(.invalidRequest, "Send grant_type: \(OpenIDNames.grantType).")
    }
    guard type.hasSameBytes(as: OpenIDNames.grantType) else {
      throw OpenIDFailure(
        .unsupportedGrantType, "Send grant_type \(OpenIDNames.grantType), the only one that is supported.")
    }
    guard let id = form["auth_req_id"] else {
      throw OpenIDFailure(.invalidRequest, "Send auth_req_id from the answer to the authentication request.")
    }
    guard client.delivery != .push else {
      throw OpenIDFailure(
        .unauthorizedClient, "Wait for the notification: the client is registered for push.")
    }
    guard id.utf8.count <= 128 else { throw Self.unknown }
    let digest = BackchannelService.digest(of: id)
    let found = try await context.storage.pollBackchannelRequest(
      digest, of: client.id, at: context.clock.now,
      step: BackchannelService.interval, limit: Self.longestInterval)
    switch found {
    case .unknown, .used: throw Self.unknown
    case .pending:
      throw OpenIDFailure(.authorizationPending, "The user has not decided; poll again after the interval.")
    case .tooSoon(let interval):
      throw OpenIDFailure(.slowDown, "Wait \(interval) seconds between two polls.", retryAfter: interval)
    case .expired: throw OpenIDFailure(.expiredToken, "The user did not decide in time; start again.")
    case .ended(let request, let transaction):
      if let refusal = try await maker.refusal(of: request, transaction) { throw refusal }
      return try await issue(request, transaction, to: client)
    }
  }

  /// Creates the tokens, then records their issue.
  ///
  /// Of two concurrent requests, only one gets its tokens; those of the other are discarded.
  private func issue(
    _ request: BackchannelRecord, _ transaction: TransactionRecord, to client: ClientRecord
  ) async throws -> TokenAnswer {
    let now = context.clock.now
    let tokens = try await maker.tokens(for: request, transaction, at: now, authReqID: nil)
    let isFirst = try await context.storage.issueTokens(
      for: request.digest, of: client.id, at: now, pushedWithin: BackchannelRecord.noticeLifetime,
      audit: Self.event(context, transaction, client))
    guard isFirst else { throw Self.unknown }
    return tokens
  }

  static func event(
    _ context: ServiceContext, _ transaction: TransactionRecord, _ client: ClientRecord
  ) -> AuditRecord {
    context.audit(by: client.actor)(.tokensIssued(user: transaction.user, transaction: transaction.id))
  }

  private static let unknown = OpenIDFailure(
    .invalidGrant, "auth_req_id is not one of this client's, or its tokens were already issued; start again.")
}
