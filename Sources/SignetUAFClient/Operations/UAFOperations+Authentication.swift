import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetSystem
import SignetUAF
import SignetVault

extension UAFOperations {
  /// Authenticates a user.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - policy: The server's name of the policy; `nil` for its default policy.
  /// - Returns: The authorization that the server grants; `nil` if it grants none.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func authenticate(
    _ username: String, policy: String? = nil
  ) async throws(SignetError) -> UAFAuthorization? {
    var session: UAFAuthorization?
    return try await authenticate(username, policy: policy, session: &session)
  }

  /// Authenticates a user in a login that another method can continue after a failure.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - policy: The server's name of the policy; `nil` for its default policy.
  ///   - session: The authorization of the login; the server's cookies are added to it, also if the authentication fails.
  /// - Returns: The authorization that the server grants; `nil` if it grants none.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func authenticate(
    _ username: String, policy: String? = nil, session: inout UAFAuthorization?
  ) async throws(SignetError) -> UAFAuthorization? {
    do {
      let state = try await store.state()
      let account = state?[username]?.account ?? UAFAccount(username: username, server: configuration.baseURL)
      return try await authenticate(username, policy, at: server(of: account), &session)
    } catch { throw UAFOperationFailure(thrown: error).signetError }
  }

  private func authenticate(
    _ username: String, _ policy: String?, at server: UAFServer, _ login: inout UAFAuthorization?
  ) async throws -> UAFAuthorization? {
    var context: JSONObject = ["username": .string(username)]
    if let policy { context["policy"] = .string(policy) }
    let answer = try await server.request(.authentication, context, by: login)
    login = login.adding(answer.cookies)
    return try await authenticate(answer.content, at: server, as: username, &login)
  }

  /// Answers a server's authentication request; if no user name is given, the user selects the account.
  func authenticate(
    _ request: ReturnUAFRequest, at server: UAFServer, as username: String?, _ login: inout UAFAuthorization?
  ) async throws -> UAFAuthorization? {
    let message = try self.message(of: request, .authentication, at: server)
    let steps = AuthenticationSteps(operations: self, server: server, message: message)
    let signed: (account: UAFAccount, response: UAFResponse, lock: FolderLock)
    do { signed = try await steps.sign(as: username) } catch {
      let failure = UAFOperationFailure(thrown: error)
      await report(failure, of: .authentication, message, to: server, by: login)
      throw error
    }
    let authorization = try await steps.send(signed.response, &login, under: signed.lock)
    // Registers the dispatch target if that failed at registration.
    if authorization != nil { _ = await ensureTarget(of: signed.account, at: server, by: authorization) }
    return authorization
  }
}

/// The steps of an authentication after the server's request.
private struct AuthenticationSteps {
  let operations: UAFOperations
  let server: UAFServer
  let message: String

  /// Lets the user select an authenticator and verifies the user, then signs.
  func sign(
    as username: String?
  ) async throws -> (account: UAFAccount, response: UAFResponse, lock: FolderLock) {
    let authentication = try await opened()
    let account =
      if let username { UAFAccount(username: username, server: server.name) } else {
        try await chosenAccount(authentication)
      }
    try await operations.requireUnlocked(account)
    let aaid = try await operations.selected(
      choices(authentication, account.username), for: account, authentication.transaction)
    guard let combination = authentication.combination(for: account.username, with: aaid),
      combination.allSatisfy(\.isUsable)
    else { throw UAFOperationFailure.fido(.noSuitableAuthenticator) }
    let (response, lock) = try await signed(authentication, combination, account)
    return (account, response, lock)
  }

  private func opened() async throws -> UAFAuthentication {
    let request = try await operations.client.opened(message, from: server.name)
    guard case .authentication(let authentication) = request else {
      throw UAFOperationFailure.fido(.protocolError)
    }
    return authentication
  }

  private func chosenAccount(
    _ authentication: UAFAuthentication
  ) async throws -> UAFAccount {
    let state = try await operations.store.state()
    let all = state?.accounts.map(\.account) ?? []
    let accounts = all.filter { $0.server == server.name }.sorted()
    let candidates = authentication.candidates
    let question = UAFAccountSelection(accounts: accounts, transaction: authentication.transaction) {
      username, aaid in
      candidates.contains { candidate in
        candidate.isPolicyCompliant && candidate.authenticator.isModel(aaid)
          && candidate.key?.isOf(username) ?? false
      }
    }
    let username: String = try await operations.prompt { interaction, answer in
      await interaction.selectAccount(question, answer: answer)
    }
    if let account = accounts.first(where: { $0.isOf(username) }) { return account }
    throw all.contains { $0.isOf(username) }
      ? UAFOperationFailure.userNotRegisteredInServer(server.name)
      : UAFOperationFailure.fido(.noSuitableAuthenticator)
  }

  /// Each authenticator once: with the user's key if there is one, otherwise with the obstacle.
  private func choices(
    _ authentication: UAFAuthentication, _ username: String
  ) -> [UAFAuthenticatorChoice] {
    var choices: [UAFAuthenticatorChoice] = []
    for candidate in authentication.candidates {
      let isOfAccount = candidate.key?.isOf(username) ?? false
      let choice =
        isOfAccount || candidate.key == nil
        ? UAFAuthenticatorChoice(candidate, isRegistration: false, for: username)
        : UAFAuthenticatorChoice(
          authenticator: candidate.authenticator, isPolicyCompliant: false, obstacle: .notRegistered)
      if let index = choices.firstIndex(where: { $0.authenticator.aaid == choice.authenticator.aaid }) {
        if choices[index].obstacle != nil, isOfAccount { choices[index] = choice }
      } else {
        choices.append(choice)
      }
    }
    return choices
  }

  private func signed(
    _ authentication: UAFAuthentication, _ combination: [UAFCandidate], _ account: UAFAccount
  ) async throws -> (response: UAFResponse, lock: FolderLock) {
    var questions = CredentialQuestions(
      conversation: operations.conversation, username: account.username,
      transaction: authentication.transaction)
    while true {
      var uses: [KeyUnlock] = []
      for candidate in combination {
        guard let key = candidate.key else { throw UAFOperationFailure.fido(.noSuitableAuthenticator) }
        let status = try await operations.client.lockStatus(of: key)
        if status == .lockedOut { throw UAFOperationFailure.fido(.userLockout) }
        uses.append(
          KeyUnlock(
            key: key,
            authentication: try await questions.verification(by: candidate.authenticator, status)))
      }
      do throws(UAFFailure) {
        let signed = try await authentication.authenticate(uses) { () async throws(UAFFailure) in
          try await operations.client.counterLock()
        }
        await questions.reportSuccess(combination.map(\.authenticator))
        return signed
      } catch {
        guard questions.mayRetry(after: error) else { throw error }
      }
    }
  }

  // MARK: The server's answer

  /// Sends the response, releases the lock for the next response and returns the authorization that the server grants.
  func send(
    _ response: UAFResponse, _ login: inout UAFAuthorization?, under lock: FolderLock
  ) async throws -> UAFAuthorization? {
    let answer: UAFServer.Answer<UAFServerResponse>
    do {
      defer { lock.release() }
      answer = try await server.respond(.authentication, response.message, [:], by: login)
    }
    login = login.adding(answer.cookies)
    switch UAFStatus(rawValue: answer.content.statusCode) {
    case .ok, .accepted: break
    case .unknownKeyID:
      // The client deletes keys that the server does not know (UAF Application API section 3.1).
      try await operations.client.delete(response.keys)
      throw UAFOperationFailure.network(
        server.problem(
          .refused(
            answer.content.statusCode,
            description: "the server does not know the key any more, so it was deleted here; register again"))
      )
    default:
      throw UAFOperationFailure.network(
        server.problem(.refused(answer.content.statusCode, description: answer.content.description)))
    }
    if let authorization = UAFAuthorization(answer.content, answer.cookies) { return authorization }
    guard let location = answer.content.location else { return nil }
    return try await fetchAuthorization(at: location, login)
  }

  /// Fetches the authorization from the location that the server named, with the configured retries.
  private func fetchAuthorization(
    at location: String, _ login: UAFAuthorization?
  ) async throws -> UAFAuthorization? {
    guard let locationURL = HTTPSURL(location), locationURL.origin == HTTPSURL(server.name)?.origin else {
      throw UAFOperationFailure.network(
        server.problem(.malformed("the authorization is to be fetched from another server")))
    }
    let missing = server.problem(.malformed("there is no authorization at the URL that the server named"))
    let server = server
    return try await server.configuration.authorizationRetry.run(
      on: operations.clock, while: { $0.mayPass || $0 == missing }
    ) { () async throws(UAFNetworkProblem) -> UAFAuthorization in
      let answer = try await server.exchange(.get, location, by: login)
      let cookies = server.cookies(of: answer, from: location)
      guard !cookies.isEmpty else { throw missing }
      return .cookies(cookies)
    }
  }
}

extension UAFAuthorization {
  /// Reads the authorization that a server grants: cookies of the HTTP response first, then cookies in the message, then a token.
  init?(_ answer: UAFServerResponse, _ cookies: [UAFCookie]) {
    guard cookies.isEmpty else {
      self = .cookies(cookies)
      return
    }
    guard let token = answer.additionalTokens.first(where: { $0.kind == .jwt }) else { return nil }
    self = .jwt(token.value)
  }
}

extension UAFAuthorization? {
  /// Adds newer cookies; a cookie of the same name, host and path is replaced.
  package func adding(_ cookies: [UAFCookie]) -> UAFAuthorization? {
    guard !cookies.isEmpty else { return self }
    switch self {
    case .cookies(let earlier):
      let remaining = earlier.filter { old in
        !cookies.contains { $0.name == old.name && $0.host == old.host && $0.path == old.path }
      }
      return .cookies(remaining + cookies)
    case nil: return .cookies(cookies)
    default: return self
    }
  }
}
