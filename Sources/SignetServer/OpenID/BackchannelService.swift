import SignetCrypto
import SignetJOSE
import SignetProtocol
import SignetStorage
import SignetSystem

/// Authentication requests of clients (CIBA section 7), each of which creates a transaction.
struct BackchannelService: Sendable {
  /// The time after a transaction's expiry during which a client can still get its tokens, in seconds.
  static let grace: Int64 = 30
  /// The minimum time between two polls, in seconds; each early poll adds as much (CIBA sections 7.3 and 11).
  static let interval: Int64 = 5
  private static let types = ["jwt", "oauth-authz-req+jwt", "application/oauth-authz-req+jwt"]

  private let context: ServiceContext
  private let authentication: ClientAuthentication
  private let transactions: TransactionService
  private let names: OpenIDNames

  init(_ context: ServiceContext, _ authentication: ClientAuthentication, _ transactions: TransactionService)
  {
    self.context = context
    self.authentication = authentication
    self.transactions = transactions
    names = OpenIDNames(context.settings.serverURL)
  }

  /// Validates a request and asks the user.
  ///
  /// - Parameters:
  ///   - form: The parameters.
  ///   - client: The authenticated client.
  /// - Returns: The answer.
  /// - Throws: ``OpenIDFailure``.
  func start(_ form: FormParameters, from client: ClientRecord) async throws -> BackchannelAnswer {
    let request = try BackchannelRequest(await parameters(form, of: client))
    guard client.delivery == .poll || request.notificationToken != nil else {
      throw OpenIDFailure(
        .invalidRequest, "Send client_notification_token: the client is registered for ping or push.")
    }
    let requirements = context.settings.requirements
    guard request.acrValues.allSatisfy({ requirements[$0] != nil }) else {
      throw OpenIDFailure(unknownACRBeside: requirements)
    }
    let user = try await UserHint(context).user(for: request.hint, of: client)
    try await checkCode(request.userCode, of: user, by: client)

    let id = Base64URL.encode(context.random.bytes(32))
    let draft = TransactionDraft(
      try Self.content(request.bindingMessage), from: client.name, user: user, lifetime: request.expiry,
      numberDigits: client.numberDigits, requirements: request.acrValues)
    let made: TransactionService.NewTransaction
    do {
      made = try await transactions.create(draft, by: client.actor, isClients: true) {
        transaction in
        try record(of: id, transaction, client, request)
      }
    } catch { throw OpenIDFailure(asking: Dialect.problem(error, context.log)) }
    return BackchannelAnswer(
      id: id, expires: made.record.expires - made.record.created,
      interval: client.delivery == .push ? nil : Self.interval, number: made.number?.digits)
  }

  /// Returns the digest of an `auth_req_id`, which the server stores instead of the id.
  static func digest(of id: String) -> [UInt8] { HashFunction.sha256.digest(of: Array(id.utf8)) }

  private func record(
    of id: String, _ transaction: TransactionRecord, _ client: ClientRecord, _ request: BackchannelRequest
  ) throws -> BackchannelRecord {
    var record = BackchannelRecord(
      digest: Self.digest(of: id), transaction: transaction.id, client: client.id, delivery: client.delivery,
      expires: transaction.expires + Self.grace, interval: Self.interval)
    if client.delivery != .poll, let token = request.notificationToken {
      record.sealedNotice = try BackchannelNotice(id: id, token: token).sealed(
        for: transaction.id, under: context.masterKey)
    }
    return record
  }

  /// Returns the content that the user reads.
  ///
  /// Every transaction already names the requester.
  private static func content(_ message: String?) throws -> TransactionContent.Body {
    guard let message else { return .text("Sign in") }
    do throws(WireFailure) {
      return .form(
        try TransactionForm(
          template: "login", fields: [TransactionField(.text(message), label: "Message")]))
    } catch { throw OpenIDFailure.unclearBindingMessage }
  }

  // MARK: Signed requests

  /// Returns the parameters of the form, or of the signed request, which must contain them all (CIBA section 7.1.1).
  private func parameters(
    _ form: FormParameters, of client: ClientRecord
  ) async throws -> FormParameters {
    guard let name = client.requestAlgorithm else {
      guard form["request"] == nil else {
        throw OpenIDFailure(
          .invalidRequest, "Leave request out: the client is registered for requests that are not signed.")
      }
      return form
    }
    guard let algorithm = SignatureAlgorithm(rawValue: name) else {
      context.log.error("client.damaged", ["client": client.id])
      throw OpenIDFailure(.serverError, "Register the client again; nothing was changed.")
    }
    guard let text = form["request"] else {
      throw OpenIDFailure(
        .invalidRequest, "Send request, a JWT: the client is registered for signed requests only.")
    }
    guard !form.hasAny(of: BackchannelRequest.parameterNames) else {
      throw OpenIDFailure(
        .invalidRequest, "Put all parameters into request, except those that authenticate the client."
      )
    }
    let claims: JWTClaims
    do throws(JOSEFailure) {
      claims = try ClientToken(text).claims(
        of: client, signedWith: [algorithm], for: [names.issuer], types: Self.types, now: context.clock.now)
    } catch {
      context.log.sampled("request.refused", ["client": client.id, "reason": "\(error)"])
      throw OpenIDFailure(
        .invalidRequest,
        "request is not valid; check its signature, alg (\(name)), typ, iss, aud (the issuer), exp and nbf.")
    }
    guard claims.issuedAt != nil, claims.notBefore != nil else {
      throw OpenIDFailure(.invalidRequest, "Put iat and nbf into request.")
    }
    guard try await authentication.claimTokenID(claims, of: client) else {
      throw OpenIDFailure(
        .invalidRequest, "Put a jti of 1 to 256 bytes into request that was not used before.")
    }
    return try FormParameters(claims: claims.all)
  }

  // MARK: User codes

  private func checkCode(
    _ code: String?, of user: UserID, by client: ClientRecord
  ) async throws {
    let found = try await context.storage.user(user)
    guard let found else { throw OpenIDFailure.unknownUser }
    guard found.codeDigest != nil else { return }
    guard let code else {
      throw OpenIDFailure(
        .missingUserCode, "Send user_code: the user has a user code, and must enter it.")
    }
    let given = context.masterKey.digest(ofUserCode: code, of: user)
    let audit = context.audit(by: client.actor)
    let (rules, limit) = (context.settings.codes, context.settings.codeAttempts)
    let attempt = OTPSubject(user: user, client: Array(client.actor.text.utf8))
    let outcome: CodeOutcome?
    do {
      outcome = try await context.storage.tryUserCode(attempt) { digest, wait in
        let isRight = constantTimeEqual(given, digest)
        let (outcome, next) = rules.verify(isRight: isRight, wait, limit: limit, at: audit.time)
        return OTPResult(outcome, wait: next, audit: audit(Self.event(outcome, user)))
      }
    } catch StorageFailure.unknown { throw OpenIDFailure.unknownUser }
    switch outcome {
    // Accepted also if the user's code was removed in the meantime.
    case nil, .accepted: return
    case .waiting(let seconds): throw OpenIDFailure(wrongUserCode: seconds)
    case .refused, .locked, .keyRevoked: throw OpenIDFailure.wrongUserCode
    }
  }

  private static func event(_ outcome: CodeOutcome, _ user: UserID) -> AuditEvent {
    switch outcome {
    case .accepted: .userCodeAccepted(user: user)
    case .refused, .keyRevoked: .userCodeRefused(user: user, .wrong)
    case .waiting: .userCodeRefused(user: user, .waiting)
    case .locked: .userCodeRefused(user: user, .locked)
    }
  }
}
