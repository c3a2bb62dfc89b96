import SignetCrypto
import SignetInterchange
import SignetOATH
import SignetProtocol
package import SignetStorage
package import SignetSystem

/// Validation of one-time passwords, each of which is valid once (`docs/protocol.md` section 6).
package struct CodeService: Sendable {
  let context: ServiceContext
  private let clientKey: HMACKey

  /// Creates the service of a context.
  package init(_ context: ServiceContext) {
    self.context = context
    clientKey = context.masterKey.clientKey()
  }

  /// The caller, with the end user's address.
  package struct Requester: Sendable {
    /// The caller's name in the audit log.
    package let actor: AuditActor
    /// The caller's API key; if it is no longer valid, the codes are not checked.
    package let key: ID<APIKeyRecord>?
    /// The end user's address, 1 to 64 visible ASCII characters; `nil` if unknown.
    package let client: String?

    /// Creates a requester.
    package init(_ actor: AuditActor, key: ID<APIKeyRecord>? = nil, client: String? = nil) {
      self.actor = actor
      self.key = key
      self.client = client
    }
  }

  /// Validates a code against all active credentials of a user, and uses it up.
  ///
  /// - Parameters:
  ///   - code: The code that the user typed.
  ///   - user: The user.
  ///   - requester: The caller; only the audit log contains the reason of a rejection.
  /// - Returns: The outcome; ``CodeOutcome/keyRevoked`` if the requester's key is no longer valid. Its listener runs on the
  ///   thread that writes, and must not block.
  /// - Throws: ``Problem`` if the code was not checked.
  package func validate(
    _ code: String, user: UserID, by requester: Requester
  ) throws -> Completion<CodeOutcome> {
    try attempt(.use(code), OTPSubject(user: user), requester)
  }

  /// Resynchronizes and unlocks a credential with two consecutive codes.
  ///
  /// - Parameters:
  ///   - codes: Two consecutive codes; both are used up.
  ///   - user: The user who typed them; `nil` if an operator names a token.
  ///   - serial: The token; `nil` for any credential of the user.
  ///   - requester: The caller.
  /// - Returns: The outcome. Right codes do not authenticate the user here.
  /// - Throws: ``Problem``.
  package func resynchronise(
    _ codes: (String, String), user: UserID?, serial: String? = nil, by requester: Requester
  ) throws -> Completion<CodeOutcome> {
    try attempt(
      .resynchronise(codes.0, codes.1), OTPSubject(user: user, serial: serial), requester)
  }

  /// Activates an imported token with its first right code.
  ///
  /// - Parameters:
  ///   - code: The code that the token shows.
  ///   - user: The holder; `nil` for an operator.
  ///   - serial: The token.
  ///   - requester: The caller.
  /// - Returns: The outcome.
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
      let verification = verifier.verify(operation, snapshot)
      var result = OTPResult(
        verification.outcome, wait: verification.wait,
        audit: audit(
          Self.event(verification, operation, user, isUnknown: snapshot.isUserUnknown, limit: verifier.limit))
      )
      result.changed = verification.changed
      return result
    }
  }

  /// Returns a verifier for a time, with the operator's settings.
  package func verifier(at time: Int64) -> OTPVerifier {
    OTPVerifier(
      rules: context.settings.codes, limit: context.settings.codeAttempts, time: time,
      generator: { [context] in context.generator(of: $0) })
  }

  private static func event(
    _ verification: OTPVerifier.Verification, _ operation: OTPOperation, _ user: UserID?, isUnknown: Bool,
    limit: Int
  ) -> AuditEvent {
    if let used = verification.used {
      let (user, source) = (used.user ?? user, used.source)
      return switch operation {
      case .use: .codeAccepted(user: user, source)
      case .verify: .tokenVerified(user: user, source)
      case .resynchronise: .codesResynchronised(user: user, source)
      }
    }
    // If codes were not checked, the event does not state whether they were right.
    let locked = verification.changed.filter { $0.failures >= limit }.map { $0.serial ?? $0.id.text }
    let reason = refusal(verification, operation, isUnknown: isUnknown)
    return switch operation {
    case .use: .codeRefused(user: user, reason, locked: locked)
    case .verify: .tokenRefused(user: user, reason, locked: locked)
    case .resynchronise: .codesRefused(user: user, reason, locked: locked)
    }
  }

  private static func refusal(
    _ verification: OTPVerifier.Verification, _ operation: OTPOperation, isUnknown: Bool
  ) -> AuditEvent.CodeRefusal {
    if verification.isUserInactive { return .userNotActive }
    if case .waiting = verification.outcome { return .waiting }
    // The caller gets the same answer and wait as for a wrong code; only the log contains the reason.
    if isUnknown { return .unknownUser }
    if verification.outcome == .locked { return .locked }
    if verification.isReplay { return .replayed }
    return switch operation {
    case .use: .wrongCode
    case .verify: .wrongTokenCode
    case .resynchronise: .wrongPair
    }
  }

  /// Resets the failure counts of a user's codes and signatures, and the waits of addresses.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func unlock(_ user: UserID, by actor: AuditActor) async throws {
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
  /// Decrypts a credential's secret; on failure it logs the cause and returns `nil`.
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
