// What clients of OpenID Connect are told by ping and push (CIBA sections 10.2 and 10.3, `docs/protocol.md` section 11.4).
extension Model {
  /// For so many seconds after the end of a request its client is still told.
  package static let noticeLifetime: Int64 = 300
  /// The most seconds between two attempts to tell a client.
  private static let longestPause: Int64 = 32

  /// Does what the server does by itself to tell a client by push: it gives tokens out.
  ///
  /// - Returns: Whether there are any for the client.
  package mutating func push(_ id: String, at time: Int64) -> Bool {
    guard let request = requests[id], isPushed(request), mayHaveTokens(id, request),
      let ended = request.ended,
      ended + Self.noticeLifetime >= time
    else { return false }
    requests[id]?.hasTokens = true
    return true
  }

  /// The client of OpenID Connect that has asked a request; `nil` for none.
  package func client(of id: String) -> String? {
    requests[id].flatMap { $0.isClients ? $0.party : nil }
  }

  /// Whether a request of a client that is told has ended.
  package func hasEnded(_ id: String) -> Bool {
    guard let request = requests[id], request.isClients else { return false }
    return request.state != .pending && Traits.delivery(of: request.party) != .poll
  }

  /// Whether the tokens for a request were given out.
  package func hasTokens(_ id: String) -> Bool { requests[id]?.hasTokens == true }

  /// Whether the server may give up telling a client: it is too late, or the tokens that were on their way are for what is out of use.
  ///
  /// - Parameters:
  ///   - id: The request.
  ///   - time: When.
  ///   - earlier: The server as it was before, as far as the client may have been told then.
  /// - Returns: Whether it may.
  package func mayGiveUp(_ id: String, at time: Int64, after earlier: some Sequence<Model>) -> Bool {
    guard hasEnded(id), let request = requests[id], let ended = request.ended else { return false }
    // The next attempt is half a minute later at most.
    if time + Self.longestPause > ended + Self.noticeLifetime { return true }
    return earlier.contains { model in
      model.requests[id].map { $0.hasTokens && !model.isGoodForTokens(id, $0) } ?? false
    }
  }

  /// What a notice of a request may say: `ping`, an error, or the claims of the ID token.
  package func notices(of id: String) -> Set<String> {
    guard hasEnded(id), let request = requests[id], clients[request.party] == true else { return [] }
    if !isPushed(request) {
      return request.state == .expired && missing != .expiriesAreNoNews ? [] : ["ping"]
    }
    switch request.state {
    case .pending: return []
    case .denied: return ["access_denied"]
    // Which of the two depends on who has withdrawn it.
    case .withdrawn: return ["access_denied", "transaction_failed"]
    case .expired: return ["expired_token"]
    case .accepted:
      let isGood = isGoodForTokens(id, request)
      guard request.hasTokens else { return isGood ? [] : ["access_denied"] }
      // The same ones again, as long as they are good.
      return isGood ? Set([claims(of: id)].compactMap(\.self)) : []
    }
  }

  /// The requests of which clients have to have been told by now.
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
