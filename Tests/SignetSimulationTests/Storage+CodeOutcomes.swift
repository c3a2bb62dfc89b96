import AccountModel
import SignetCrypto
import SignetOATH
import SignetServer
import SignetStorage
import SignetSystem
import Synchronization

// One-time codes, and the tokens that make them.
extension Storage {
  /// Makes a step about codes, which the services verify.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - judges: The services' decisions.
  ///   - event: Makes the events of the attempt.
  ///   - time: The time.
  /// - Returns: The outcome that the client sees.
  /// - Throws: ``StorageFailure``, and errors of making a code.
  func outcomeOfCodes(
    _ step: Step, _ judges: Judges, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .code(let maker, let user, let counter, let address, let party):
      return try await verify(
        .use(try Sample.code(of: maker, at: counter)),
        OTPSubject(user: "\(user)", client: Array(address.utf8), key: "\(party)"), judges, event, at: time)
    case .resynchronise(let maker, let user, let counter, let address, let party):
      return try await verify(
        .resynchronise(try Sample.code(of: maker, at: counter), try Sample.code(of: maker, at: counter + 1)),
        OTPSubject(user: "\(user)", client: Array(address.utf8), key: "\(party)"), judges, event, at: time)
    case .verify(let token, let user, let counter, let address, let party):
      var attempt = OTPSubject(user: user.map { "\($0)" }, serial: token, key: party.map { "\($0)" })
      if user != nil { attempt.client = Array(address.utf8) }
      return try await verify(
        .verify(try Sample.code(of: token, at: counter)), attempt, judges, event, at: time)
    case .addToken(let token, let user):
      let added = try await addTokens([try Sample.credential("\(token)", of: user.map { "\($0)" })]) { _ in
        event("added")
      }
      return added == [token] ? "added" : "known"
    case .assign(let token, let user):
      return "\(try await assignToken(token, to: user.map { "\($0)" }, audit: done))"
    case .disable(let token, let isDisabled):
      return "\(try await disableToken(token, isDisabled, audit: done))"
    case .removeToken(let token): return "\(try await removeToken(token, audit: done))"
    case .unlock(let user): return try await unlockUser("\(user)", audit: done) ? "done" : "unknown"
    default: preconditionFailure("not about codes")
    }
  }

  private func verify(
    _ request: OTPOperation, _ attempt: OTPSubject, _ judges: Judges,
    _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let verifier = judges.codes.verifier(at: time)
    return try await attemptCode(attempt) { snapshot in
      let finding = verifier.verify(request, snapshot)
      var result = OTPResult(finding.outcome, wait: finding.wait, audit: event(finding.outcome.word))
      result.changed = finding.changed
      return result
    }.value.word
  }
}

extension CodeOutcome {
  fileprivate var word: String {
    if case .waiting(let seconds) = self { "waiting \(seconds)" } else { "\(self)" }
  }
}

extension CredentialRecord {
  /// The state without the owner.
  var words: String { "\(lastCounter) \(drift) \(failures)" }
}

extension Sample {
  /// The credential of a container or a token, with so many digits that no two codes of a history are equal.
  ///
  /// - Throws: `CryptoFailure`.
  static func credential(_ maker: ID<CredentialRecord>, of user: UserID?) throws -> CredentialRecord {
    let isTimed = Traits.isTimed("\(maker)")
    return CredentialRecord(
      id: maker, user: user, serial: maker.text.hasPrefix("x") ? maker.text : nil,
      kind: isTimed ? .totp : .hotp,
      algorithm: OATHAlgorithm.sha256.rawValue, digits: digits, period: isTimed ? Int(Traits.period) : 0,
      sealedSecret: try sealedSecret(of: maker), created: 0)
  }

  private static let digits = 10

  /// The code that a container or a token makes.
  ///
  /// - Throws: `OATHFailure`.
  static func code(of maker: String, at counter: Int64) throws -> String {
    try HOTP(secret: secret(of: maker), algorithm: .sha256, digits: digits).code(
      at: UInt64(clamping: counter))
  }

  private static func secret(of maker: String) -> SecretBytes {
    SecretBytes(copying: HashFunction.sha256.digest(of: Array("codes of \(maker)".utf8)))
  }

  private static func sealedSecret(of maker: ID<CredentialRecord>) throws -> [UInt8] {
    try sealedSecrets.withLock { known in
      if let sealed = known[maker] { return sealed }
      let sealed = try masterKey.seal(secret(of: maker.text), for: .otpSecret(credential: maker))
      known[maker] = sealed
      return sealed
    }
  }

  private static let sealedSecrets = Mutex<[ID<CredentialRecord>: [UInt8]]>([:])
}
