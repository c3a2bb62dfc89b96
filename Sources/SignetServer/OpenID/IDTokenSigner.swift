import SignetCrypto
import SignetJOSE
import SignetJSON
package import SignetStorage
import SignetWire

/// Makes the tokens for what a user has accepted (CIBA section 10.1.1).
///
/// They follow from the request, the decision and a time: made again, they say the same.
package struct IDTokenSigner: Sendable {
  /// `typ` of an ID token.
  static let idTokenType = "JWT"
  /// `typ` of an access token (RFC 9068).
  static let accessTokenType = "at+jwt"
  /// The user id, where `sub` is what nobody else is ever called.
  static let userClaim = "signet_user"
  /// Where the key lies that answered, and how well that is known: a ``KeyAssurance``.
  static let protectionClaim = "signet_key_protection"

  private let context: ServiceContext
  private let names: OpenIDNames

  /// A maker over a context.
  package init(_ context: ServiceContext) {
    self.context = context
    names = OpenIDNames(context.settings.serverURL)
  }

  /// Makes the tokens.
  ///
  /// - Parameters:
  ///   - request: What was asked.
  ///   - transaction: What was accepted.
  ///   - time: When they are given out first, in seconds since 1970.
  ///   - id: The `auth_req_id`, where the ID token has to say it.
  /// - Returns: The answer to a token request.
  /// - Throws: `Problem`.
  package func tokens(
    for request: BackchannelRecord, _ transaction: TransactionRecord, at time: Int64, authReqID id: String?
  ) async throws -> TokenAnswer {
    guard let user = transaction.user, let proof = try await proof(of: transaction),
      let subject = try await context.storage.user(user)?.subject
    else {
      throw Problem(.serverFailure, "Nothing was changed; try again later.")
    }
    let key = try await SigningKeyService(context).current()
    let signer = SigningKey(key, keyID: key.publicKey.thumbprint)

    var common: JSONObject = [
      "iss": .string(names.issuer), "sub": .string(subject), "iat": .integer(time),
      "exp": .integer(time + OpenIDNames.tokenLifetime), "auth_time": .integer(proof.time),
    ]
    common["acr"] = .string(acr(for: transaction, proof.evidence))

    var access = common
    access["aud"] = .string(names.issuer)
    access["client_id"] = .id(request.client)
    access["scope"] = .string(OpenIDNames.scope)
    access["jti"] = .string(Self.name(of: request))
    let accessToken = try sign(access, signer, type: Self.accessTokenType)

    var claims = common
    claims["aud"] = .id(request.client)
    claims["amr"] = [.string(proof.evidence.method)]
    claims[Self.protectionClaim] = .string(proof.evidence.keyProtection.rawValue)
    claims["at_hash"] = .string(Self.hash(of: accessToken))
    claims[Self.userClaim] = .id(user)
    if let (jws, container) = proof.signed {
      let signingKey = try P256.Signing.PublicKey(x963: container.signingKey)
      claims["signet_decision"] = .string(jws)
      claims["signet_key"] = .object(signingKey.wireJWK)
    }
    if let id { claims["urn:openid:params:jwt:claim:auth_req_id"] = .string(id) }
    return TokenAnswer(
      accessToken: accessToken, type: "Bearer",
      expires: max(1, time + OpenIDNames.tokenLifetime - context.clock.now), scope: OpenIDNames.scope,
      idToken: try sign(claims, signer, type: Self.idTokenType))
  }

  /// How an acceptance is known.
  private struct Proof {
    var time: Int64
    var evidence: AuthenticationEvidence
    var signed: (jws: String, by: ContainerRecord)?
  }

  private func proof(of transaction: TransactionRecord) async throws -> Proof? {
    if let uaf = transaction.uaf {
      return Proof(time: uaf.time, evidence: try await context.evidence(of: uaf, for: transaction))
    }
    if let app = transaction.app {
      // The server has the key too, so it proves no possession to others: a yes on another channel is what it shows.
      return Proof(time: app.time, evidence: AuthenticationEvidence(.pushApp))
    }
    guard let decision = transaction.decision,
      let container = try await context.storage.container(decision.container)
    else { return nil }
    // As it was at the decision, whatever the device has reported since.
    let evidence = AuthenticationEvidence(of: container, isSigned: decision.jws != nil)
      .reported(decision.lastReport, at: decision.time).matching(transaction)
    return Proof(
      time: decision.time, evidence: evidence,
      signed: decision.jws.map { ($0, container) })
  }

  /// `acr`: the first name that was asked for and that the evidence meets, or else the name of what was done.
  private func acr(for transaction: TransactionRecord, _ evidence: AuthenticationEvidence) -> String {
    if let name = context.settings.requirements.first(of: transaction.requirements, metBy: evidence) {
      return name
    }
    return switch evidence.kind {
    case .uaf: UAFNames.acr
    case .container where evidence.isContentSigned: OpenIDNames.signedACR
    case .container, .pushApp: OpenIDNames.answeredACR
    }
  }

  /// Why an acceptance does not do for what is required; `nil` where it does.
  private func shortcoming(of transaction: TransactionRecord) async throws -> OpenIDFailure? {
    let (names, known) = (transaction.requirements, context.settings.requirements)
    guard !names.isEmpty, let evidence = try await proof(of: transaction)?.evidence else { return nil }
    guard !known.isOneMet(of: names, by: evidence) else { return nil }
    return OpenIDFailure(
      .accessDenied,
      "The user has accepted, but not as acr_values asked: \(known.missing(for: names, in: evidence)).")
  }

  /// Why there are no tokens for a transaction that has ended; `nil` where there are.
  ///
  /// - Parameters:
  ///   - request: What was asked.
  ///   - transaction: How it ended.
  /// - Returns: The failure.
  /// - Throws: `Problem`.
  package func refusal(
    of request: BackchannelRecord, _ transaction: TransactionRecord
  ) async throws -> OpenIDFailure? {
    switch transaction.state {
    case .accepted:
      guard request.issued == nil else { return nil }
      if let failure = try await lapse(of: transaction) { return failure }
      return try await shortcoming(of: transaction)
    case .denied, .reported, .cancelled: return OpenIDFailure(.accessDenied, "The user has refused.")
    case .pending, .expired: return OpenIDFailure(.expiredToken, "Nobody decided in time; start again.")
    case .withdrawn where transaction.end?.reason == EndRecord.userNotActive: return Self.notActive
    case .withdrawn where transaction.end?.reason == EndRecord.noAuthenticator:
      return OpenIDFailure(.accessDenied, "No authenticator of the user can answer any more; start again.")
    case .withdrawn:
      return OpenIDFailure(
        .transactionFailed, "The request was withdrawn; start again if it is still wanted.")
    }
  }

  /// Why an acceptance earns no tokens any more, or none again: its user is not active, or what it was given with is out of use.
  ///
  /// - Returns: The failure; `nil` for none.
  /// - Throws: `Problem`.
  package func lapse(of transaction: TransactionRecord) async throws -> OpenIDFailure? {
    if let user = transaction.user, try await context.storage.user(user)?.state != .active {
      return Self.notActive
    }
    guard try await context.storage.isProofInUse(of: transaction.id) else {
      return OpenIDFailure(
        .accessDenied, "What the user accepted with is locked or no longer in use; start again.")
    }
    return nil
  }

  private static let notActive = OpenIDFailure(.accessDenied, "The user's account is not active.")

  private func sign(_ claims: JSONObject, _ key: SigningKey, type: String) throws -> String {
    do throws(JOSEFailure) { return try JWS.sign(claims.bytes, with: key, type: type) } catch {
      context.log.error("crypto.failed", ["cause": error.description])
      throw Problem(.serverFailure, "Nothing was changed; try again later.")
    }
  }

  /// `at_hash`: the left half of the digest (OpenID Connect Core section 3.1.3.6).
  package static func hash(of token: String) -> String {
    Base64URL.encode(Array(HashFunction.sha256.digest(of: Array(token.utf8)).prefix(16)))
  }

  /// `jti`: another for each request, and the same each time.
  private static func name(of request: BackchannelRecord) -> String {
    let digest = HashFunction.sha256.digest(of: Array("signet access token\u{0}".utf8) + request.digest)
    return Base64URL.encode(Array(digest.prefix(16)))
  }
}
