import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
package import SignetStorage
import SignetSystem

/// Creates the tokens for an accepted request (CIBA section 10.1.1).
///
/// Their claims depend only on the request, the decision and a time. Tokens created again have the same claims.
package struct IDTokenSigner: Sendable {
  /// The `typ` of an ID token.
  static let idTokenType = "JWT"
  /// The `typ` of an access token (RFC 9068).
  static let accessTokenType = "at+jwt"
  /// The claim with the user id; `sub`, in contrast, is never reused for another user.
  static let userClaim = "signet_user"
  /// The claim with the protection of the answering key: a ``KeyAssurance``.
  static let protectionClaim = "signet_key_protection"

  private let context: ServiceContext
  private let names: OpenIDNames

  package init(_ context: ServiceContext) {
    self.context = context
    names = OpenIDNames(context.settings.serverURL)
  }

  /// Creates the tokens.
  ///
  /// - Parameters:
  ///   - request: The client's request.
  ///   - transaction: The accepted transaction.
  ///   - time: The time of their first issue, in seconds since 1970.
  ///   - id: The `auth_req_id`, if the ID token must contain it.
  /// - Returns: The answer to a token request.
  /// - Throws: `Problem`.
  package func tokens(
    for request: BackchannelRecord, _ transaction: TransactionRecord, at time: Int64, authReqID id: String?
  ) async throws -> TokenAnswer {
    guard let user = transaction.user, let proof = try await proof(of: transaction),
      let subject = try await context.storage.user(user)?.subject
    else {
      throw Problem(.serverFailure, "See the server's log.")
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

  /// The proof of an acceptance: its time, its evidence and the signed decision, if any.
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
      // The server also has the key, so the answer proves no possession to others, only consent over another channel.
      return Proof(time: app.time, evidence: AuthenticationEvidence(.pushApp))
    }
    guard let decision = transaction.decision,
      let container = try await context.storage.container(decision.container)
    else { return nil }
    // The device's state at the decision; later reports do not count.
    let evidence = AuthenticationEvidence(of: container, isSigned: decision.jws != nil)
      .reported(decision.lastReport, at: decision.time).matching(transaction)
    return Proof(
      time: decision.time, evidence: evidence,
      signed: decision.jws.map { ($0, container) })
  }

  /// Returns the `acr`: the first requested name that the evidence meets, or else the name of the kind of acceptance.
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

  /// Returns the failure if an acceptance does not meet the requested requirements; `nil` if it does.
  private func unmetRequirement(of transaction: TransactionRecord) async throws -> OpenIDFailure? {
    let (names, known) = (transaction.requirements, context.settings.requirements)
    guard !names.isEmpty, let evidence = try await proof(of: transaction)?.evidence else { return nil }
    guard !known.isOneMet(of: names, by: evidence) else { return nil }
    return OpenIDFailure(
      .accessDenied,
      "The user accepted, but the answer does not meet acr_values: \(known.missing(for: names, in: evidence))."
    )
  }

  /// Returns the failure for an ended transaction without tokens; `nil` if tokens may be issued.
  ///
  /// - Parameters:
  ///   - request: The client's request.
  ///   - transaction: The ended transaction.
  /// - Returns: The failure.
  /// - Throws: `Problem`.
  package func refusal(
    of request: BackchannelRecord, _ transaction: TransactionRecord
  ) async throws -> OpenIDFailure? {
    switch transaction.state {
    case .accepted:
      guard request.issued == nil else { return nil }
      if let failure = try await lapse(of: transaction) { return failure }
      return try await unmetRequirement(of: transaction)
    case .denied, .reported, .cancelled: return OpenIDFailure(.accessDenied, "The user has refused.")
    case .pending, .expired:
      return OpenIDFailure(.expiredToken, "The user did not decide in time; start again.")
    case .withdrawn where transaction.end?.reason == EndRecord.userNotActive: return Self.notActive
    case .withdrawn where transaction.end?.reason == EndRecord.noAuthenticator:
      return OpenIDFailure(
        .accessDenied, "The user no longer has an authenticator that can answer; start again.")
    case .withdrawn:
      return OpenIDFailure(
        .transactionFailed, "The request was withdrawn; start again if it is still needed.")
    }
  }

  /// Returns the failure for an acceptance that no longer earns tokens.
  ///
  /// Its user is not active, or the authenticator that gave it is locked or no longer in use.
  ///
  /// - Returns: The failure; `nil` for none.
  /// - Throws: `Problem`.
  package func lapse(of transaction: TransactionRecord) async throws -> OpenIDFailure? {
    if let user = transaction.user, try await context.storage.user(user)?.state != .active {
      return Self.notActive
    }
    guard try await context.storage.isProofInUse(of: transaction.id) else {
      return OpenIDFailure(
        .accessDenied, "The authenticator that accepted is locked or no longer active; start again.")
    }
    return nil
  }

  private static let notActive = OpenIDFailure(.accessDenied, "The user's account is not active.")

  private func sign(_ claims: JSONObject, _ key: SigningKey, type: String) throws -> String {
    do throws(JOSEFailure) { return try JWS.sign(claims.bytes, with: key, type: type) } catch {
      context.log.error("crypto.failed", ["cause": error.description])
      throw Problem(.serverFailure, "See the server's log.")
    }
  }

  /// Returns `at_hash`: the left half of the SHA-256 digest (OpenID Connect Core section 3.1.3.6).
  package static func hash(of token: String) -> String {
    Base64URL.encode(Array(HashFunction.sha256.digest(of: Array(token.utf8)).prefix(16)))
  }

  /// Returns `jti`, which is unique for each request and always the same for one request.
  private static func name(of request: BackchannelRecord) -> String {
    let digest = HashFunction.sha256.digest(of: Array("signet access token\u{0}".utf8) + request.digest)
    return Base64URL.encode(Array(digest.prefix(16)))
  }
}
