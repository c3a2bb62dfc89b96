import SignetCrypto
package import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem
import SignetUAF

/// Issues and verifies authorization tokens: JWTs, signed after a UAF operation and sent in the answer or a cookie.
package struct UAFAuthorizations: Sendable {
  /// The `typ` of a token issued after an authentication.
  static let type = "JWT"
  /// The `typ` of a token issued after a registration, which only the UAF services accept.
  static let registrationType = "uaf-registration+jwt"

  private let context: ServiceContext
  private let keys: APIKeyService
  private let setup: UAFSetup
  private let names: UAFNames

  private var settings: UAFSettings { setup.settings }

  package init(_ context: ServiceContext, _ keys: APIKeyService, _ setup: UAFSetup) {
    self.context = context
    self.keys = keys
    self.setup = setup
    names = UAFNames(context.settings.serverURL, setup.settings)
  }

  /// The claim with the id of the operation that earned the token.
  private static let sessionClaim = "signet_session"
  /// The claim with the SHA-256 hashes of the confirmed transactions, if there are any.
  private static let confirmedClaim = "signet_confirmed"
  /// The claim with the id of this server's transaction that was decided.
  private static let transactionClaim = "signet_transaction"

  /// An issued token and its optional cookie.
  struct Issued: Sendable {
    let token: UAFServerResponse.Token
    /// The value of `Set-Cookie`; `nil` if only the answer contains the token.
    let cookie: String?
  }

  /// Signs a token that names the user, the operation that earned it, its policy and its keys.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - operation: The kind of the operation.
  ///   - session: The operation.
  ///   - keys: The keys that were used or registered.
  ///   - policy: The name of the requested policy; `nil` for the default.
  ///   - acr: The authentication context class reference.
  ///   - confirmed: The transactions that the user confirmed.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: The token.
  func issue(
    for user: UserID, after operation: UAFOperation, _ session: UAFOperationRecord, _ keys: [KeyReference],
    policy: String?, acr: String = UAFNames.acr, confirmed: [UAFTransaction] = []
  ) async throws -> Issued {
    let now = context.clock.now
    guard let subject = try await context.storage.user(user)?.subject else {
      throw UAFStatusFailure(.forbidden, "the user was deleted")
    }
    var claims: JSONObject = [
      "iss": .string(names.issuer), "sub": .string(subject),
      "aud": .string(names.appID), "iat": .integer(now),
      "exp": .integer(now + settings.authorizationLifetime), "auth_time": .integer(now),
      "jti": .string(Base64URL.encode(context.random.bytes(16))), "acr": .string(acr),
      "signet_uaf": .string(operation.rawValue), Self.sessionClaim: .id(session.id),
      "signet_policy": .string(policy ?? UAFNames.defaultPolicy),
      "signet_authenticators": UAFKeys.json(keys),
    ]
    claims[IDTokenSigner.userClaim] = .id(user)
    if let transaction = session.transaction { claims[Self.transactionClaim] = .id(transaction) }
    if !confirmed.isEmpty {
      var hashes: [JSONValue] = []
      for hash in confirmed.map({ JSONValue.string(Base64URL.encode($0.hash)) }) where !hashes.contains(hash)
      {
        hashes.append(hash)
      }
      claims[Self.confirmedClaim] = .array(hashes)
    }
    let key = try await SigningKeyService(context).current()
    let text: String
    do throws(JOSEFailure) {
      text = try JWS.sign(
        claims.bytes, with: SigningKey(key, keyID: key.publicKey.thumbprint),
        type: operation == .authentication ? Self.type : Self.registrationType)
    } catch { throw UAFStatusFailure(.internalError, "the answer can't be signed") }
    switch settings.reply {
    case .jwt: return Issued(token: UAFServerResponse.Token(.jwt, text), cookie: nil)
    case .cookie:
      let cookie = "\(UAFNames.cookie)=\(text)"
      return Issued(
        token: UAFServerResponse.Token(.httpCookie, cookie),
        cookie:
          "\(cookie); Path=/; Max-Age=\(settings.authorizationLifetime); Secure; HttpOnly; SameSite=Strict")
    }
  }

  /// Returns the caller of a request.
  ///
  /// A request without a credential is anonymous, which is no failure. An invalid credential is a failure.
  ///
  /// - Throws: `Problem`.
  package func caller(of request: ServerRequest) async throws -> UAFCaller {
    if let authorization = request.headers["Authorization"] {
      let parts = authorization.split(separator: " ", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == "bearer", parts[1].contains(".") {
        return try await user(knownBy: String(parts[1]))
      }
      return .relyingParty(try await keys.key(authorization: authorization, scope: .relyingParty))
    }
    for field in request.headers.values(for: "Cookie") {
      for pair in field.split(separator: ";") {
        let parts = pair.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == UAFNames.cookie else { continue }
        return try await user(knownBy: String(parts[1]))
      }
    }
    return .anyone(from: request.remoteAddress)
  }

  /// Returns the caller like ``caller(of:)``, but rejects an anonymous one.
  ///
  /// - Throws: `Problem`.
  func knownCaller(of request: ServerRequest) async throws -> UAFCaller {
    let caller = try await caller(of: request)
    if case .anyone = caller { throw Self.refused }
    return caller
  }

  private func user(knownBy text: String) async throws -> UAFCaller {
    let jws: JWS
    do throws(JOSEFailure) { jws = try JWS(compact: text, maximumByteCount: 8_192) } catch {
      throw Self.refused
    }
    for key in try await SigningKeyService(context).published().keys {
      guard let claims = claims(of: jws, signedWith: key) else { continue }
      // A token for a confirmed transaction proves only that confirmation and must not allow changes to keys.
      guard case .string(let user)? = claims[IDTokenSigner.userClaim], claims.contains("signet_uaf"),
        !claims.contains(Self.transactionClaim), !claims.contains(Self.confirmedClaim),
        case .string(let session)? = claims[Self.sessionClaim],
        case let basis = UAFBasis.operation(
          ID(unchecked: session), of: UserID(unchecked: user), suffices: suffices),
        let locked = try await context.storage.lockedDevices(of: basis)
      else { break }
      return .user(UserID(unchecked: user), basis, lockedDevices: locked)
    }
    throw Self.refused
  }

  /// Returns true if the keys that earned a token satisfy the default policy.
  ///
  /// The caller of an authentication chooses its policy, so that policy must not decide who manages keys. A registration was
  /// authorized before it began.
  private func suffices(_ session: UAFOperationRecord, _ keys: [UAFCredentialRecord]) -> Bool {
    var candidates: [Policy.Candidate] = []
    var shown: [AuthenticationEvidence] = []
    for key in keys {
      guard let reference = key.reference, let model = setup.models[reference.aaid] else { return false }
      candidates.append(
        Policy.Candidate(model.traits(ofVersion: key.authenticatorVersion), keyIDs: [reference.keyID]))
      shown.append(
        AuthenticationEvidence(of: key, model).atBest(confirmingTransaction: session.transaction != nil))
    }
    guard session.operation == UAFOperation.authentication.rawValue else { return true }
    let requirements = context.settings.requirements
    guard let rule = setup.rule(named: nil, among: requirements) else { return false }
    return shown.contains { requirements.areMet(rule.requirements, by: $0) }
      && rule.policy.firstCombination(of: candidates) != nil
  }

  private func claims(of jws: JWS, signedWith key: P256.Signing.PublicKey) -> JSONObject? {
    do throws(JOSEFailure) {
      return try jws.verified(with: VerificationKey(key), allowing: [.es256]).claims(
        JWTValidation(issuer: names.issuer, audiences: [names.appID], leewaySeconds: 0),
        now: context.clock.now
      ).all
    } catch { return nil }
  }

  static let refused = Problem(
    .unauthorized, "Authenticate by UAF, or send the API key of a relying party.")
}
