package import SignetConcurrency
import SignetCrypto
import SignetOATH
public import SignetStorage
import SignetWire

/// One-time passwords: whether a code is good, once (`docs/protocol.md` section 6).
public struct CodeService: Sendable {
  let context: ServiceContext
  private let clientKey: HMACKey

  /// A service over a context.
  public init(_ context: ServiceContext) {
    self.context = context
    clientKey = context.masterKey.clientKey()
  }

  /// Who asks, and for whom.
  public struct Requester: Sendable {
    /// For the audit log.
    public let actor: AuditActor
    /// The API key; the codes are not looked at where it is not good any more.
    public let key: ID<APIKeyRecord>?
    /// The end user's address, 1 to 64 visible ASCII characters; `nil` where it is not known.
    public let client: String?

    /// Describes who asks.
    ///
    /// - Parameters:
    ///   - actor: For the audit log.
    ///   - key: The API key.
    ///   - client: The end user's address.
    public init(_ actor: AuditActor, key: ID<APIKeyRecord>? = nil, client: String? = nil) {
      (self.actor, self.key, self.client) = (actor, key, client)
    }
  }

  /// Checks a code against all that makes codes for a user, and uses it up.
  ///
  /// - Parameters:
  ///   - code: What the user typed.
  ///   - user: Who typed it.
  ///   - requester: Who asks; the audit log gets the reason.
  /// - Returns: How it ended, ``CodeOutcome/keyRevoked`` where the requester's key is not good any more; a listener hears it on the
  ///   thread that writes, and must not block.
  /// - Throws: ``Problem`` where nothing was tried.
  package func validate(
    _ code: String, user: UserID, by requester: Requester
  ) throws -> Completion<CodeOutcome> {
    try attempt(.use(code), OTPSubject(user: user), requester)
  }

  /// Finds the place of a credential again, and unlocks it, by two codes in a row.
  ///
  /// - Parameters:
  ///   - codes: Two codes that follow each other; both are used up.
  ///   - user: Who typed them; `nil` where an operator names a token.
  ///   - serial: The token; `nil` for whatever credential of the user makes them.
  ///   - requester: Who asks.
  /// - Returns: How it ended. That they are right authenticates nobody.
  /// - Throws: ``Problem``.
  package func resynchronise(
    _ codes: (String, String), user: UserID?, serial: String? = nil, by requester: Requester
  ) throws -> Completion<CodeOutcome> {
    try attempt(
      .resynchronise(codes.0, codes.1), OTPSubject(user: user, serial: serial), requester)
  }

  /// Takes an imported token into use by its first right code.
  ///
  /// - Parameters:
  ///   - code: What the token shows.
  ///   - user: Who holds it; `nil` where an operator does it.
  ///   - serial: The token.
  ///   - requester: Who asks.
  /// - Returns: How it ended.
  /// - Throws: ``Problem``.
  package func verify(
    _ code: String, user: UserID?, serial: String, by requester: Requester
  ) throws -> Completion<CodeOutcome> {
    try attempt(.verify(code), OTPSubject(user: user, serial: serial), requester)
  }

  private func attempt(
    _ operation: OTPOperation, _ subject: OTPSubject, _ requester: Requester
  ) throws -> Completion<CodeOutcome> {
    var subject = subject
    subject.key = requester.key
    if subject.user != nil {
      subject.client = try RateLimitKey.digest(of: requester.client, under: clientKey)
    }
    let audit = context.audit(by: requester.actor)
    let verifier = verifier(at: audit.time)
    let user = subject.user
    return context.storage.attemptCode(subject) { snapshot in
      let finding = verifier.verify(operation, snapshot)
      var result = OTPResult(
        finding.outcome, wait: finding.wait,
        audit: audit(
          Self.event(finding, operation, user, isUnknown: snapshot.isUserUnknown, limit: verifier.limit)))
      result.changed = finding.changed
      return result
    }
  }

  /// Verifies codes at a time, by what the operator has decided.
  package func verifier(at time: Int64) -> OTPVerifier {
    OTPVerifier(
      rules: context.settings.codes, limit: context.settings.codeAttempts, time: time,
      generator: { [context] in context.generator(of: $0) })
  }

  private static func event(
    _ finding: OTPVerifier.Finding, _ operation: OTPOperation, _ user: UserID?, isUnknown: Bool, limit: Int
  ) -> AuditEvent {
    if let used = finding.used {
      let (user, source) = (used.user ?? user, used.source)
      return switch operation {
      case .use: .codeAccepted(user: user, source)
      case .verify: .tokenVerified(user: user, source)
      case .resynchronise: .codesResynchronised(user: user, source)
      }
    }
    // Of codes that were not tried, nothing says whether they were right.
    let locked = finding.changed.filter { $0.failures >= limit }.map { $0.serial ?? $0.id.text }
    let why = refusal(finding, operation, isUnknown: isUnknown)
    return switch operation {
    case .use: .codeRefused(user: user, why, locked: locked)
    case .verify: .tokenRefused(user: user, why, locked: locked)
    case .resynchronise: .codesRefused(user: user, why, locked: locked)
    }
  }

  private static func refusal(
    _ finding: OTPVerifier.Finding, _ operation: OTPOperation, isUnknown: Bool
  ) -> AuditEvent.CodeRefusal {
    if finding.isUserHeld { return .userNotActive }
    if case .waiting = finding.outcome { return .waiting }
    // The caller gets the answer and the wait of a wrong code; only the log has the reason.
    if isUnknown { return .unknownUser }
    if finding.outcome == .locked { return .locked }
    if finding.isReplay { return .replayed }
    return switch operation {
    case .use: .wrongCode
    case .verify: .wrongTokenCode
    case .resynchronise: .wrongPair
    }
  }

  /// Forgets what failed: a user's codes and signatures, and what addresses have to wait.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  public func unlock(_ user: UserID, by actor: AuditActor) async throws {
    let event = context.audit(by: actor)(.userUnlocked(user: user))
    let exists = try await context.storage.unlockUser(user, audit: event)
    guard exists else { throw Problem(noUser: user) }
  }
}

extension CredentialRecord {
  fileprivate var source: AuditEvent.CodeSource {
    serial.map { .token($0) } ?? .container(ContainerID(of: id))
  }
}

extension ServiceContext {
  /// Opens a credential's secret; what can't be opened is logged, and makes no code.
  func generator(of credential: CredentialRecord) -> HOTP? {
    do {
      guard let algorithm = OATHAlgorithm(anyName: credential.algorithm) else {
        log.sampledError(
          "credential.unreadable", ["credential": credential.id, "cause": "the algorithm is not known"])
        return nil
      }
      let secret = try masterKey.open(credential.sealedSecret, for: .otpSecret(credential: credential.id))
      return try HOTP(secret: secret, algorithm: algorithm, digits: credential.digits)
    } catch {
      log.sampledError("credential.unreadable", ["credential": credential.id, "cause": "\(error)"])
      return nil
    }
  }
}
