import SignetSystem
public import SignetUAF
import SignetVault

extension UAFClient {
  /// Parses a server's request, checks it and matches it with this device.
  ///
  /// The client chooses the protocol version, checks the message and its extensions and matches the policy. It then
  /// checks that the application trusts this app, which may fetch a trusted facet list.
  ///
  /// - Parameters:
  ///   - message: The JSON text of the list of requests: `uafRequest` of a server's answer.
  ///   - server: The app's name for the requesting server. A key belongs to the server that it was made for. A server with another name
  ///     cannot use it or learn that it exists, even with the same application ID. Without a name, only keys made without one match.
  ///   - channelBinding: The binding of the response to the connection to the server.
  /// - Returns: The request.
  /// - Throws: ``SignetError``: `UNSUPPORTED_VERSION`, `PROTOCOL_ERROR`, `UNKNOWN` for an unknown extension that must be
  ///   understood, `NO_SUITABLE_AUTHENTICATOR`, `UNTRUSTED_FACET_ID`.
  public func open(
    _ message: String, from server: String? = nil, channelBinding: UAFChannelBinding = .none
  ) async throws(SignetError) -> UAFRequest {
    do throws(UAFFailure) {
      return try await opened(message, from: server, channelBinding: channelBinding)
    } catch { throw error.signetError }
  }

  /// Parses a server's request, checks it and matches it with this device.
  func opened(
    _ message: String, from server: String?, channelBinding: UAFChannelBinding = .none
  ) async throws(UAFFailure) -> UAFRequest {
    let request: UAFRequestMessage
    do throws(MessageFailure) {
      request = try UAFRequestMessage(parsing: Array(message.utf8), versions: Self.versions)
    } catch { throw .protocol(error.clientError, "the server's request was refused: \(error)") }
    let header = request.header
    let appID = header.appID.flatMap { $0.isEmpty ? nil : $0 } ?? facetID
    switch request {
    case .registration(let request):
      let registration = UAFRegistration(
        self, server, request, appID,
        FinalChallenge(
          FinalChallengeParams(
            appID: appID, challenge: request.challenge, facetID: facetID, channelBinding: channelBinding)),
        try await authenticatorsOfDevice())
      guard !registration.combinations.isEmpty else { throw Self.noSuitableAuthenticator }
      try await authorize(header)
      return .registration(registration)
    case .authentication(let request):
      let authentication = UAFAuthentication(
        self, server, request, appID,
        FinalChallenge(
          FinalChallengeParams(
            appID: appID, challenge: request.challenge, facetID: facetID, channelBinding: channelBinding)),
        try await authenticatorsOfDevice())
      guard !authentication.usernames.isEmpty else { throw Self.noSuitableAuthenticator }
      try await authorize(header)
      guard request.transactions.isEmpty || authentication.transaction != nil else {
        throw .protocol(.invalidTransactionContent, "the transaction cannot be displayed")
      }
      return .authentication(authentication)
    case .deregistration(let request):
      try await authorize(header)
      return .deregistration(UAFDeregistration(self, server, request, appID))
    }
  }

  private func authenticatorsOfDevice() async throws(UAFFailure) -> [UAFAuthenticator] {
    do throws(SignetError) { return try await authenticators() } catch { throw .device(error) }
  }

  static let noSuitableAuthenticator = UAFFailure.protocol(
    .noSuitableAuthenticator, "no authenticator of this device matches the server's policy")

  /// Rejects a request of an application that does not trust this app.
  private func authorize(_ header: OperationHeader) async throws(UAFFailure) {
    let url: String
    let origin: WebOrigin
    switch FacetDecision(appID: header.appID, facetID: facetID) {
    case .allowed: return
    case .refused: throw untrusted("the application is another app")
    case .fetch(let list, let host): (url, origin) = (list, host)
    }
    guard let facets else { throw untrusted("the settings do not allow this app to fetch its list of apps") }
    let list: TrustedFacetList
    do throws(FacetLists.Refusal) { list = try await facets.list(at: url) } catch {
      if case .transport(.cancelled) = error { throw .protocol(.userCancelled, "cancelled") }
      throw untrusted("its list of apps could not be fetched: \(error)")
    }
    let trusted = list.trusted(
      by: origin, version: header.version, takesOlderVersions: acceptsOlderFacetLists)
    guard trusted.contains(where: { $0.hasSameBytes(as: facetID) }) else {
      throw untrusted("its list of apps does not name \(facetID)")
    }
  }

  private func untrusted(_ reason: String) -> UAFFailure {
    .protocol(.untrustedFacetID, "the application does not trust this app: \(reason); ask its operator")
  }
}
