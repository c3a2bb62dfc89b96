import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem
import SignetUAF

/// Verifies the responses of clients (UAF Protocol sections 3.4.6.5 and 3.5.7.5).
///
/// The first response with the server's own `serverData` ends its operation, whether it verifies or not.
struct UAFResponses: Sendable {
  private let context: ServiceContext
  private let setup: UAFSetup
  private let requests: UAFRequests
  private let authorizations: UAFAuthorizations
  private var requirementCheck: UAFRequirementCheck { UAFRequirementCheck(context, setup) }

  init(
    _ context: ServiceContext, _ setup: UAFSetup, _ requests: UAFRequests, _ authorizations: UAFAuthorizations
  ) {
    self.context = context
    self.setup = setup
    self.requests = requests
    self.authorizations = authorizations
  }

  /// Verifies a registration and stores its keys.
  ///
  /// - Parameter sent: The client's message.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: The token issued to the client, if any.
  func finishRegistration(_ sent: SendUAFResponse) async throws -> UAFAuthorizations.Issued? {
    let response: RegistrationResponse
    let bytes = Array(sent.response.utf8)
    do throws(MessageFailure) { response = try RegistrationResponse(parsing: bytes, versions: [.v1_1]) } catch
    {
      throw await failed(sent, RegistrationRequest.self, UAFStatusFailure(error))
    }
    let (session, request) = try await self.session(response.header, begunBy: RegistrationRequest.self)
    do {
      return try await finishRegistration(
        response, to: request, session, on: try UAFTargets.device(in: sent.context))
    } catch {
      throw await end(session, sent, UAFStatusFailure(answering: error, context))
    }
  }

  private func finishRegistration(
    _ response: RegistrationResponse, to request: RegistrationRequest, _ session: UAFOperationRecord,
    on device: String?
  ) async throws -> UAFAuthorizations.Issued? {
    let now = context.clock.now
    guard session.expires > now else { throw Self.requestInvalid }
    guard let user = session.user else { throw UAFStatusFailure(.internalError, "the operation has no user") }
    let verified: VerifiedRegistration
    do throws(UAFRefusal) {
      verified = try RegistrationExpectation(
        request, trustedFacets: Set(setup.settings.facets), models: setup.models, unixTime: now
      ).verify(response)
    } catch { throw UAFStatusFailure(error) }
    let credentials = verified.keys.map { key in
      var credential = UAFCredentialRecord(
        aaid: key.reference.aaid.stored, keyID: key.reference.keyID.bytes, user: user,
        publicKey: key.encodedKey, algorithm: key.algorithm.rawValue, keyFormat: key.keyFormat.rawValue,
        signCounter: key.signCounter, registrationCounter: key.registrationCounter,
        authenticatorVersion: key.authenticatorVersion, created: now)
      credential.device = device
      credential.modelProof = key.attestation == .basicFull ? .attested : .claimed
      credential.keyProtection = setup.models[key.reference.aaid]?.statement.keyProtection.rawValue ?? 1
      return NewUAFCredential(credential, digest: PublicKeyDigest(of: key.publicKey.canonicalBytes))
    }
    let policy = try UAFContext.policy(in: session.context)
    let keys = Self.json(verified.keys.map(\.reference))
    let end = UAFOperationEnd(status: UAFStatus.ok.rawValue, authenticators: keys, time: now)
    let audit = context.audit(by: .user(user))
    let outcome = try await context.storage.finishUAFRegistration(
      session.id, end, adding: credentials, limit: UAFKeys.limit
    ) { outcome in
      guard let reason = Self.reason(outcome) else {
        return audit(.uafRegistered(session: session.id, user: user, keys: keys))
      }
      return audit(
        .uafRegistrationRefused(session: session.id, user: user, keys: keys, reason: reason))
    } check: {
      requirementCheck.refusal(of: credentials.map(\.credential), under: policy)
    }
    try Self.check(outcome)
    return try await authorizations.issue(
      for: user, after: .registration, session, verified.keys.map(\.reference), policy: policy)
  }

  /// Verifies an authentication and ends its operation.
  ///
  /// - Parameter sent: The client's message.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: The token issued to the client, if any.
  func finishAuthentication(_ sent: SendUAFResponse) async throws -> UAFAuthorizations.Issued? {
    let claimed: ClaimedAuthentication
    do throws(UAFRefusal) { claimed = try ClaimedAuthentication(parsing: Array(sent.response.utf8)) } catch {
      throw await failed(sent, AuthenticationRequest.self, UAFStatusFailure(error))
    }
    let (session, request) = try await self.session(
      claimed.response.header, begunBy: AuthenticationRequest.self)
    do { return try await finishAuthentication(claimed, to: request, session) } catch {
      throw await end(session, sent, UAFStatusFailure(answering: error, context))
    }
  }

  private func finishAuthentication(
    _ claimed: ClaimedAuthentication, to request: AuthenticationRequest, _ session: UAFOperationRecord
  ) async throws -> UAFAuthorizations.Issued? {
    guard session.expires > context.clock.now else { throw Self.requestInvalid }
    let found = try await credentials(claimed.keys)
    // If the operation names no user, the user is the owner of the first key. Keys of other users then count as unknown.
    guard let user = session.user ?? found.first?.user else {
      throw UAFStatusFailure(.unknownKeyID, "the key is not registered")
    }
    var keys: [RegisteredKey] = []
    for credential in found where credential.user == user {
      switch credential.state {
      case .active: break
      case .quarantined:
        throw UAFStatusFailure(
          .revokedAuthenticator, "the key may have been copied and is in quarantine; register again")
      case .revoked:
        throw UAFStatusFailure(
          .revokedAuthenticator, "the key was revoked with its device; register a new one")
      case .altered: throw Self.altered
      }
      keys.append(try Self.key(credential))
    }
    let verified: VerifiedAuthentication
    do throws(UAFRefusal) {
      verified = try AuthenticationExpectation(
        request, trustedFacets: Set(setup.settings.facets), models: setup.models, keys: keys
      ).verify(claimed)
    } catch { throw UAFStatusFailure(error) }
    let policy = try UAFContext.policy(in: session.context)
    let uses = verified.uses.map {
      CounterUpdate(
        aaid: $0.reference.aaid.stored, keyID: $0.reference.keyID.bytes, signCounter: $0.signCounter)
    }
    let answer = AuditEvent.UAFAnswer(
      session: session.id, user: user, keys: Self.json(verified.uses.map(\.reference)),
      transaction: session.transaction, outdated: Self.outdated(verified.uses))
    let end = UAFOperationEnd(
      status: UAFStatus.ok.rawValue, authenticators: answer.keys, time: context.clock.now)
    let audit = context.audit(by: .user(user))
    let evidence = try await evidence(
      of: verified.uses, found, request, claimed.response.finalChallenge.text, session, by: user,
      at: end.time)
    let outcome = try await context.storage.finishUAFAuthentication(
      session.id, of: user, end, uses: uses, evidence: evidence
    ) {
      audit(Self.event($0, answer))
    } check: { stored, transaction in
      // Another key may have been registered under the same name since; the verified signature says nothing about it.
      guard stored.allSatisfy({ key in found.contains(where: key.isSameKey(as:)) }) else {
        return .keyUnknown
      }
      return requirementCheck.refusal(
        of: stored, under: policy, for: transaction, signsInHere: session.signsInHere
      ) { key in verified.uses.contains { $0.reference == key.reference && $0.transaction != nil } }
    }
    if case .altered(let use) = outcome {
      context.log.error(
        "uaf.altered", ["user": user, "aaid": use.aaid, "key": Base64URL.encode(use.keyID)])
    }
    if case .clonedAuthenticator(let use) = outcome {
      context.log.error(
        "uaf.quarantined",
        ["user": user, "aaid": use.aaid, "key": Base64URL.encode(use.keyID)])
    }
    try Self.check(outcome)
    return try await authorizations.issue(
      for: user, after: .authentication, session, verified.uses.map(\.reference),
      policy: policy, acr: acr(of: policy),
      confirmed: verified.uses.compactMap(\.transaction))
  }

  // MARK: Operations

  /// Returns the operation that the server wrote into a response's header, with its request.
  private func session<Request: ChallengeRequest>(
    _ header: OperationHeader, begunBy type: Request.Type
  ) async throws -> (operation: UAFOperationRecord, request: Request) {
    guard let text = header.serverData, let id = UAFRequests.session(in: text),
      let found = try await context.storage.uafOperation(id),
      found.operation == type.operation.rawValue,
      found.state == .requested || found.hasEndedWithTransaction || found.hasEndedAsForbidden,
      let request = Self.request(of: found, type),
      requests.isAuthentic(text, session: id, type.operation, challenge: request.challenge)
    else { throw Self.requestInvalid }
    guard !found.hasEndedWithTransaction else { throw UAFStatusFailure.transactionEnded }
    guard !found.hasEndedAsForbidden else { throw UAFStatusFailure.operationForbidden }
    return (found, request)
  }

  private static let requestInvalid = UAFStatusFailure(
    .requestInvalid, "the request is unknown, was already answered, or has expired")

  private static func request<Request: ChallengeRequest>(
    of session: UAFOperationRecord, _ type: Request.Type
  ) -> Request? {
    guard let text = session.request else { return nil }
    do throws(MessageFailure) { return try type.init(parsing: text, versions: [.v1_1]) } catch { return nil }
  }

  /// Ends the operation of a response that was rejected.
  private func end(
    _ session: UAFOperationRecord, _ sent: SendUAFResponse, _ failure: UAFStatusFailure
  ) async -> UAFStatusFailure {
    let (asm, client) = Self.codes(in: sent.context)
    let end = UAFOperationEnd(
      status: failure.status.rawValue, asmStatus: asm, clientError: client, time: context.clock.now)
    let event = context.audit(by: .anyone)(
      .uafResponseRefused(
        session: session.id, user: session.user, status: end.status, asm: asm, reason: failure.reason))
    do { _ = try await context.storage.failUAFOperation(session.id, end, audit: event) } catch {
      return UAFStatusFailure(Dialect.problem(error, context.log))
    }
    return failure
  }

  /// Ends the operation that a malformed response names: a client that could not answer reports its failure this way.
  private func failed<Request: ChallengeRequest>(
    _ sent: SendUAFResponse, _ type: Request.Type, _ failure: UAFStatusFailure
  ) async -> UAFStatusFailure {
    guard let header = Self.header(in: sent.response) else { return failure }
    do {
      return await end(try await session(header, begunBy: type).operation, sent, failure)
    } catch { return failure }
  }

  static func header(in response: String) -> OperationHeader? {
    do {
      guard case .array(let messages) = try JSONValue(parsing: Array(response.utf8)),
        case .object(let message)? = messages.first, case .object(let object)? = message["header"]
      else { return nil }
      return try OperationHeader(object)
    } catch { return nil }
  }

  /// Returns the client's failure codes: the status of its authenticator-specific module (ASM) and its own error code.
  static func codes(in context: String?) -> (asm: Int?, client: Int?) {
    guard let context else { return (nil, nil) }
    do {
      let object = try JSONObject(parsing: Array(context.utf8))
      let asm = try object.optionalInteger("asmStatusCode").map { UInt16(clamping: $0) }
      let client = try object.optionalInteger("clientErrorCode").map { UInt16(clamping: $0) }
      return (
        asm.flatMap(ASMStatus.init(rawValue:)).map { Int($0.rawValue) },
        client.flatMap(UAFClientError.init(rawValue:)).map { Int($0.rawValue) }
      )
    } catch { return (nil, nil) }
  }

  // MARK: Keys

  private func credentials(_ keys: [KeyReference]) async throws -> [UAFCredentialRecord] {
    var found: [UAFCredentialRecord] = []
    for key in keys {
      let credential = try await context.storage.uafCredential(aaid: key.aaid.stored, keyID: key.keyID.bytes)
      if let credential { found.append(credential) }
    }
    return found
  }

  /// Returns a key without its signature counter, so that the verifier does not compare counters.
  ///
  /// The storage compares the counter. It does so in the transaction that stores the new counter, so one of two concurrent
  /// responses is detected as a clone. It does so only after the signature verified, so an attacker without the key cannot
  /// put it into quarantine.
  private static func key(_ credential: UAFCredentialRecord) throws -> RegisteredKey {
    guard let reference = credential.reference else {
      throw UAFStatusFailure(.internalError, "a stored key has no name")
    }
    let algorithm = UAFAlgorithm(rawValue: credential.algorithm)
    do throws(UAFKeyFailure) {
      return RegisteredKey(
        reference: reference,
        publicKey: try UAFPublicKey(
          credential.publicKey, format: UAFKeyFormat(rawValue: credential.keyFormat), for: algorithm),
        algorithm: algorithm, signCounter: nil)
    } catch { throw UAFStatusFailure(.internalError, "a stored key can't be read: \(error)") }
  }

  /// Returns the AAIDs of authenticators that are older than their metadata describes.
  private static func outdated(_ uses: [VerifiedAssertion]) -> [String] {
    uses.filter(\.isOutdated).map(\.reference.aaid.stored)
  }

  private static func json(_ keys: [KeyReference]) -> String { UAFKeys.json(keys).text }

  // MARK: Requirements

  /// Returns the evidence kept for a response that decides a transaction; `nil` if the response decides none.
  private func evidence(
    of uses: [VerifiedAssertion], _ found: [UAFCredentialRecord], _ request: AuthenticationRequest,
    _ finalChallenge: String, _ session: UAFOperationRecord, by user: UserID, at time: Int64
  ) async throws -> EvidenceRecord? {
    guard let id = session.transaction, let transaction = try await context.storage.transaction(id) else {
      return nil
    }
    var assertions: [AnswerEvidence.Assertion] = []
    for use in uses {
      guard let key = found.first(where: { $0.reference == use.reference }) else { continue }
      assertions.append(
        AnswerEvidence.Assertion(
          aaid: key.aaid, keyID: key.keyID, publicKey: key.publicKey, keyFormat: key.keyFormat,
          algorithm: key.algorithm, bytes: use.assertion))
    }
    guard let shown = uses.first?.transaction, assertions.count == uses.count else {
      throw UAFStatusFailure(.internalError, "the confirmed transaction is unknown")
    }
    let evidence = AnswerEvidence.uaf(
      AnswerEvidence.UAF(
        appID: request.header.appID ?? "", challenge: request.challenge, finalChallenge: finalChallenge,
        text: String(decoding: shown.content, as: UTF8.self), assertions: assertions))
    let statement = AnswerStatement(
      to: transaction, at: context.settings.serverURL, by: user, .accepted, with: session.id.text, time: time)
    let record = try statement.record(
      of: evidence, about: transaction.content, signedBy: try await SigningKeyService(context).current())
    guard let record else {
      throw UAFStatusFailure(
        .unacceptableContent, "the response is longer than the server can store as evidence")
    }
    return record
  }

  /// Returns the `acr` of an accepted response: the requirement that was requested by name, or else the value for UAF.
  private func acr(of policy: String?) -> String {
    guard let policy, setup.demandsRequirement(policy) else { return UAFNames.acr }
    return policy
  }

  // MARK: Outcomes

  private static func event(_ outcome: UAFOutcome, _ answer: AuditEvent.UAFAnswer) -> AuditEvent {
    guard let reason = reason(outcome) else { return .uafAuthenticated(answer) }
    if case .clonedAuthenticator = outcome { return .uafQuarantined(answer, reason: reason) }
    return .uafAuthenticationRefused(answer, reason: reason)
  }

  private static func reason(_ outcome: UAFOutcome) -> String? {
    switch outcome {
    case .accepted: nil
    case .expired: "the request was already answered, or has expired"
    case .keyExists: "the key is registered already"
    case .keyUnknown: "the key is no longer registered"
    case .clonedAuthenticator(let use):
      "the counter of \(use.aaid) did not grow: the key may have been copied"
    case .transactionEnded: "the transaction has already ended"
    case .tooMany: "the user has \(UAFKeys.limit) keys; remove one"
    case .altered: altered.reason
    case .requirementNotMet(let reason): reason
    }
  }

  private static let altered = UAFStatusFailure(
    .internalError, "the row of the key was not written by this server; remove the key, and register again")

  private static func check(_ outcome: UAFOutcome) throws {
    guard let reason = reason(outcome) else { return }
    throw UAFStatusFailure(UAFStatus(rawValue: outcome.status) ?? .internalError, reason)
  }
}

/// A request that a client answers with a response.
private protocol ChallengeRequest: UAFProtocolMessage {
  var challenge: [UInt8] { get }
}

extension RegistrationRequest: ChallengeRequest {}
extension AuthenticationRequest: ChallengeRequest {}

extension UAFOperationRecord {
  /// True if the response signs the user in at this endpoint.
  ///
  /// The response to an operation begun with a token, or deciding a transaction, signs in elsewhere: the party that ordered
  /// it gets the result.
  fileprivate var signsInHere: Bool { tokenDigest == nil && transaction == nil }
}

extension UAFCredentialRecord {
  /// Returns true if both records have the same name, public key, algorithm and key format.
  fileprivate func isSameKey(as other: UAFCredentialRecord) -> Bool {
    (aaid, keyID, publicKey) == (other.aaid, other.keyID, other.publicKey)
      && (algorithm, keyFormat) == (other.algorithm, other.keyFormat)
  }
}
