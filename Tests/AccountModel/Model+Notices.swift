// Notifications to OpenID Connect clients by ping and push (CIBA sections 10.2 and 10.3, `docs/protocol.md` section 11.4).
extension Model {
  /// Seconds after the end of a request during which the server still tries to notify its client.
  package static let noticeLifetime: Int64 = 300
  /// The longest pause between two attempts to notify a client, in seconds.
  private static let longestPause: Int64 = 32

  /// Issues tokens for a client in push mode, as the server does without a step.
  ///
  /// - Returns: Whether the client gets tokens.
  package mutating func push(_ id: String, at time: Int64) -> Bool {
    guard let request = requests[id], isPushed(request), mayHaveTokens(id, request),
      let ended = request.ended,
      ended + Self.noticeLifetime >= time
    else { return false }
    requests[id]?.hasTokens = true
    return true
  }

  /// The OpenID Connect client that made a request; `nil` for any other request.
  package func client(of id: String) -> String? {
    requests[id].flatMap { $0.isClients ? $0.party : nil }
  }

  /// Indicates whether a request has ended whose client is notified by ping or push.
  package func hasEnded(_ id: String) -> Bool {
    guard let request = requests[id], request.isClients else { return false }
    return request.state != .pending && Traits.delivery(of: request.party) != .poll
  }

  /// Indicates whether the tokens for a request were issued.
  package func hasTokens(_ id: String) -> Bool { requests[id]?.hasTokens == true }

  /// Indicates whether the server may stop notifying a client: it is too late, or the issued tokens are no longer valid.
  ///
  /// - Parameters:
  ///   - id: The request.
  ///   - time: The time of the check.
  ///   - earlier: Earlier states of the model in which the client may have been notified.
  /// - Returns: Whether the server may stop.
  package func mayGiveUp(_ id: String, at time: Int64, after earlier: some Sequence<Model>) -> Bool {
    guard hasEnded(id), let request = requests[id], let ended = request.ended else { return false }
    // The next attempt is about half a minute later at most.
    if time + Self.longestPause > ended + Self.noticeLifetime { return true }
    return earlier.contains { model in
      model.requests[id].map { $0.hasTokens && !model.isValidForTokens(id, $0) } ?? false
    }
  }

  /// The allowed contents of a request's notification: `ping`, an error, or the claims of the ID token.
  package func notices(of id: String) -> Set<String> {
    guard hasEnded(id), let request = requests[id], clients[request.party] == true else { return [] }
    if !isPushed(request) {
      return request.state == .expired && missing != .expiriesAreNoNews ? [] : ["ping"]
    }
    switch request.state {
    case .pending: return []
    case .denied: return ["access_denied"]
    // The error depends on the party that withdrew the request, which the model does not record.
    case .withdrawn: return ["access_denied", "transaction_failed"]
    case .expired: return ["expired_token"]
    case .accepted:
      let isValid = isValidForTokens(id, request)
      guard request.hasTokens else { return isValid ? [] : ["access_denied"] }
      // A repeated notification carries the same claims while they are valid.
      return isValid ? Set([claims(of: id)].compactMap(\.self)) : []
    }
  }

  /// The requests whose clients must have been notified by now.
  package func owedNotices(at time: Int64) -> [String] {
    requests.keys.filter { id in
      guard hasEnded(id), let request = requests[id], clients[request.party] == true,
        let ended = request.ended, ended + Self.noticeLifetime >= time
      else { return false }
      return isPushed(request) || request.state != .expired || missing == .expiriesAreNoNews
    }.sorted()
  }

  private func isPushed(_ request: Request) -> Bool {
    request.isClients && Traits.delivery(of: request.party) == .push
  }
}
