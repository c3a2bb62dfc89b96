import SignetCrypto
import SignetIdentifiers
import SignetJSON
import SignetUAF
import SignetVault

/// An ASM response with the vault failure that caused it, if there is one.
struct ASMOutcome: Sendable {
  let response: ASMResponse
  var failure: VaultFailure?

  init(_ response: ASMResponse, _ failure: VaultFailure? = nil) {
    self.response = response
    self.failure = failure
  }
}

/// The authenticator-specific module (ASM) of the five authenticators, for one caller (UAF ASM API).
///
/// A key belongs to the caller that had it made. The access token in its handle depends on the application, a secret of the
/// installation, the server and the caller. No other caller can compute it, and the same caller cannot compute it for another server.
package struct ASM: Sendable {
  let authenticators: UAFAuthenticators
  /// The name that the app gives itself.
  let callerID: String

  /// The name of the server that the caller acts for; `nil` if the caller names none.
  ///
  /// It serves as the persona ID of the protocol: a vault has one user, who has a separate identity at each server.
  var server: String?

  package init(authenticators: UAFAuthenticators, callerID: String, server: String? = nil) {
    self.authenticators = authenticators
    self.callerID = callerID
    self.server = server
  }

  /// Processes a request in JSON; an invalid request gets an error response.
  ///
  /// - Parameters:
  ///   - text: The request.
  ///   - token: The user verification token, for a registration or an authentication.
  /// - Returns: The response.
  package func process(_ text: [UInt8], userVerifyToken token: [UInt8]? = nil) async -> [UInt8] {
    let request: ASMRequest
    do {
      request = try ASMRequest(JSONObject(parsing: text, limits: JSONLimits(maximumByteCount: 1 << 20)))
    } catch { return ASMResponse(.error).json.bytes }
    return await handle(request, userVerifyToken: token).response.json.bytes
  }

  /// Processes a request.
  func handle(_ request: ASMRequest, userVerifyToken token: [UInt8]? = nil) async -> ASMOutcome {
    guard request.version == .v1_1, request.extensions.firstUnknown() == nil else {
      return ASMOutcome(ASMResponse(.error))
    }
    do {
      switch request.call {
      case .getInfo: return try await info()
      case .register(let appID, let username, let finalChallenge, let attestationType):
        let command = AuthenticatorCommand.Register(
          index: try index(of: request), appID: appID, finalChallengeHash: Self.hash(finalChallenge),
          userName: username, attestationType: attestationType,
          accessToken: accessToken(for: appID, try await authenticators.store.madeContents()),
          userVerifyToken: token)
        return answer(await authenticators.perform(.register(command)))
      case .authenticate(let appID, let keyIDs, let finalChallenge, let transactions):
        return try await authenticate(
          try index(of: request), appID, keyIDs, finalChallenge, transactions, token)
      case .deregister(let appID, let keyID):
        let index = try index(of: request)
        guard let contents = try await authenticators.store.contents() else {
          return ASMOutcome(ASMResponse(.ok))
        }
        let command = AuthenticatorCommand.Deregister(
          index: index, appID: appID, keyID: keyID, accessToken: accessToken(for: appID, contents))
        return answer(await authenticators.perform(.deregister(command)))
      case .getRegistrations: return try await registrations(try index(of: request))
      case .openSettings:
        return answer(await authenticators.perform(.openSettings(index: try index(of: request))))
      }
    } catch {
      switch error {
      case let status as ASMStatus: return ASMOutcome(ASMResponse(status))
      case let failure as VaultFailure:
        return ASMOutcome(ASMResponse(AuthenticatorStatus(failure).asmStatus(for: .getInfo)), failure)
      default: return ASMOutcome(ASMResponse(.error))
      }
    }
  }

  private func index(of request: ASMRequest) throws(ASMStatus) -> UInt8 {
    guard let index = request.authenticatorIndex.flatMap({ UInt8(exactly: $0) }),
      UAFAuthenticator.Kind(index: index) != nil
    else { throw .error }
    return index
  }

  /// The SHA-256 digest of the final challenge, over its text as received.
  private static func hash(_ finalChallenge: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(finalChallenge.utf8))
  }

  private func accessToken(for appID: String, _ contents: UAFContents) -> [UInt8] {
    accessToken(for: appID, server, contents)
  }

  private func accessToken(for appID: String, _ server: String?, _ contents: UAFContents) -> [UInt8] {
    // A digest has a fixed length, so two pairs of server and caller never yield the same text.
    let persona = server.map { Base64URL.encode(HashFunction.sha256.digest(of: Array($0.utf8))) } ?? ""
    return KeyHandleAccessToken.bound(
      appID: appID, asmToken: contents.asmToken, personaID: persona, callerID: callerID)
  }

  /// Converts an authenticator's answer to an ASM response.
  private func answer(_ outcome: CommandOutcome) -> ASMOutcome {
    let answer = outcome.answer
    let payload: ASMResponse.Payload? =
      switch answer.payload {
      case .registered(let assertion, _), .signed(let assertion):
        .assertion(assertion, scheme: ResponseAssertion.tlvScheme)
      case .nothing, .info, .choice: nil
      }
    return ASMOutcome(
      ASMResponse(answer.status.asmStatus(for: answer.command), answer.status == .ok ? payload : nil),
      outcome.failure)
  }

  // MARK: Calls

  private func info() async throws(VaultFailure) -> ASMOutcome {
    var list: [AuthenticatorInfo] = []
    for kind in UAFAuthenticator.Kind.allCases {
      list.append(
        AuthenticatorInfo(
          AuthenticatorFeatures(authenticators.statement(of: kind), title: kind.model.title),
          index: UInt16(kind.index), isUserEnrolled: try await authenticators.isUserEnrolled(kind)))
    }
    return ASMOutcome(ASMResponse(.ok, .info(list)))
  }

  private func authenticate(
    _ index: UInt8, _ appID: String, _ keyIDs: [KeyID], _ finalChallenge: String,
    _ transactions: [UAFTransaction], _ token: [UInt8]?
  ) async throws -> ASMOutcome {
    let shown = UAFTransaction.shown(of: transactions)
    guard transactions.isEmpty || shown != nil else { throw ASMStatus.cannotRenderTransactionContent }
    guard let kind = UAFAuthenticator.Kind(index: index),
      let contents = try await authenticators.store.contents()
    else { throw ASMStatus.keyDisappearedPermanently }
    let aaid = authenticators.aaid(of: kind)
    var keys = contents.keys.filter {
      $0.aaid == aaid && $0.appID == appID && (keyIDs.isEmpty || keyIDs.contains($0.keyID))
    }
    guard !keys.isEmpty else { throw ASMStatus.keyDisappearedPermanently }
    // If several keys match, use the key that the user was verified for.
    if let chosen = await authenticators.key(of: token), keys.contains(where: { $0.keyID == chosen }) {
      keys.removeAll { $0.keyID != chosen }
    }
    let limit = Int(UAFAuthenticators.maximumKeyHandleCount)
    let command = AuthenticatorCommand.Sign(
      index: index, appID: appID, finalChallengeHash: Self.hash(finalChallenge),
      transactionHash: shown?.hash, accessToken: accessToken(for: appID, contents), userVerifyToken: token,
      keyHandles: keys.suffix(limit).map(\.handle))
    let outcome = await authenticators.perform(.sign(command))
    // The authenticator asks for a selection because the token was verified for none of the keys.
    if case .choice = outcome.answer.payload { throw ASMStatus.accessDenied }
    return answer(outcome)
  }

  private func registrations(_ index: UInt8) async throws(VaultFailure) -> ASMOutcome {
    var list: [(appID: String, keyIDs: [KeyID])] = []
    for key in try await keys() where key.key.kind.index == index && key.key.isFor(server) {
      if let position = list.firstIndex(where: { $0.appID == key.key.appID }) {
        list[position].keyIDs.append(key.keyID)
      } else {
        list.append((key.key.appID, [key.keyID]))
      }
    }
    return ASMOutcome(
      ASMResponse(.ok, .registrations(list.map { AppRegistration(appID: $0.appID, keyIDs: $0.keyIDs) })))
  }

  /// A key with its key ID in the form of the protocol.
  typealias NamedKey = (keyID: KeyID, key: UAFKey)

  /// Returns the keys of the caller for all servers, oldest first.
  func keys() async throws(VaultFailure) -> [NamedKey] {
    guard let contents = try await authenticators.store.contents() else { return [] }
    return contents.keys.compactMap { stored in
      guard
        let kind = UAFAuthenticator.Kind.allCases.first(where: { authenticators.aaid(of: $0) == stored.aaid }
        ),
        let content = contents.handle(of: stored),
        constantTimeEqual(content.accessToken, accessToken(for: stored.appID, stored.server, contents))
      else { return nil }
      return (
        stored.keyID,
        UAFKey(
          aaid: stored.aaid.text, keyID: stored.keyID.text, appID: stored.appID, username: content.username,
          server: stored.server, kind: kind, created: stored.created)
      )
    }
  }
}
