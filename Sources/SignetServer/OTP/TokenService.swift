package import SignetCrypto
package import SignetOATH
package import SignetProtocol
package import SignetStorage
import SignetSystem

/// Imported tokens: their import, assignment, verification and removal (`docs/protocol.md` section 7).
package struct TokenService: Sendable {
  /// The largest number of tokens in one import, and in one page.
  package static let batchLimit = 500

  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// The data of a token to import.
  package struct NewToken: ~Copyable, Sendable {
    /// The serial number.
    package let serial: TokenSerial
    /// The moving factor: a counter or the time.
    package let kind: CredentialRecord.Kind
    /// The secret.
    package let secret: SecretBytes
    /// The hash algorithm.
    package let algorithm: OATHAlgorithm
    /// The number of digits in a code, 6 to 10.
    package let digits: Int
    /// The length of a time step, in seconds; unused for a counter.
    package let period: Int
    /// The beginning of step 0, in seconds since 1970.
    package let start: Int64
    /// The counter of the next code; unused for time.
    package let counter: Int64
    /// The user of the token; `nil` for none.
    package let user: UserID?

    /// Validates the data of a token.
    ///
    /// - Parameters:
    ///   - serial: The serial number.
    ///   - kind: The moving factor.
    ///   - secret: 16 to 128 bytes.
    ///   - algorithm: The hash algorithm.
    ///   - digits: 6 to 10.
    ///   - period: 1 to 3600 seconds.
    ///   - start: The beginning of step 0, in seconds since 1970.
    ///   - counter: The counter of the next code.
    ///   - user: The user of the token; `nil` for none.
    /// - Throws: ``Problem/Code/malformed``, with the serial number and the reason.
    package init(
      serial: TokenSerial, kind: CredentialRecord.Kind, secret: consuming SecretBytes,
      algorithm: OATHAlgorithm = .sha1, digits: Int = 6, period: Int = 30, start: Int64 = 0,
      counter: Int64 = 0,
      user: UserID? = nil
    ) throws(Problem) {
      let reason: String? =
        if !(16...128).contains(secret.byteCount) {
          "has a secret of \(secret.byteCount) bytes; it must have 16 to 128 (RFC 4226 section 4)"
        } else if !HOTP.allowedDigits.contains(digits) {
          "has \(digits) digits; it can have 6 to 10"
        } else if !TOTP.allowedPeriods.contains(period) {
          "has a period of \(period) seconds; it can have 1 to 3600"
        } else if !(0...(1 << 40)).contains(start) || !(0...(1 << 40)).contains(counter) {
          "has a start or a counter that is out of range"
        } else { nil }
      if let reason { throw Problem(.malformed, "The token \(serial.text) \(reason).") }
      (self.serial, self.kind) = (serial, kind)
      self.secret = secret
      self.algorithm = algorithm
      self.digits = digits
      self.period = period
      self.start = start
      self.counter = counter
      self.user = user
    }

    /// Returns the record, with the secret encrypted.
    fileprivate borrowing func record(_ context: ServiceContext) throws -> CredentialRecord {
      let id = ID<CredentialRecord>(random: context.random)
      let sealed = try context.masterKey.seal(secret, for: .otpSecret(credential: id))
      var record = CredentialRecord(
        id: id, user: user, serial: serial.text, kind: kind, algorithm: algorithm.rawValue,
        digits: digits, period: kind == .totp ? period : 0, start: kind == .totp ? start : 0,
        sealedSecret: sealed, created: context.clock.now)
      if kind == .hotp { record.lastCounter = counter - 1 }
      return record
    }
  }

  /// Encrypts a token's secret for the import; the plain secret is not needed afterwards.
  ///
  /// - Parameter token: The token.
  /// - Returns: The record for ``add(_:by:)``.
  /// - Throws: ``Problem``.
  package func sealed(_ token: borrowing NewToken) throws -> CredentialRecord {
    try token.record(context)
  }

  /// Imports all tokens or none; a token with an existing serial number is not changed.
  ///
  /// A token is accepted only after it was verified: see ``CodeService/verify(_:user:serial:by:)``.
  ///
  /// - Parameters:
  ///   - tokens: At most ``batchLimit``, from ``sealed(_:)``.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The serial numbers that were added.
  /// - Throws: ``Problem/Code/unknown`` for a user that does not exist.
  package func add(_ tokens: [CredentialRecord], by actor: AuditActor) async throws -> [String] {
    for user in Set(tokens.compactMap(\.user)) {
      let found = try await context.storage.user(user)
      guard found != nil else { throw Problem(noUser: user) }
    }
    let audit = context.audit(by: actor)
    return try await context.storage.addTokens(tokens) { token in
      audit(.tokenAdded(token: token.serial ?? token.id.text, user: token.user))
    }
  }

  /// Returns a page of tokens, ordered by serial number.
  ///
  /// - Parameters:
  ///   - serial: The last one of the page before; empty for the first page.
  ///   - user: The user; `nil` for all.
  ///   - limit: At most ``batchLimit``.
  /// - Returns: The tokens.
  /// - Throws: ``Problem/Code/unknown`` for a user that does not exist.
  package func list(
    after serial: String = "", user: UserID? = nil, limit: Int
  ) async throws -> [CredentialRecord] {
    if let user { _ = try await UserService(context).find(user) }
    return try await context.storage.tokens(after: serial, user: user, limit: min(limit, Self.batchLimit))
  }

  /// Returns true if a token's codes are rejected until it is unlocked.
  ///
  /// - Parameter token: The token.
  /// - Returns: True if it is locked.
  package func isLocked(_ token: CredentialRecord) -> Bool { token.failures >= context.settings.codeAttempts }

  /// Assigns a token to a user, who must verify it, or removes the assignment.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - user: The user; `nil` for none.
  ///   - actor: The caller's name in the audit log.
  /// - Throws: ``Problem/Code/unknown``.
  package func assign(_ serial: TokenSerial, to user: UserID?, by actor: AuditActor) async throws {
    let event = context.audit(by: actor)(.tokenAssigned(token: serial.text, user: user))
    try require(
      try await context.storage.assignToken(serial.text, to: user, audit: event), serial, user)
  }

  /// Disables a token, or enables it so that it can be verified again.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - isDisabled: True to disable.
  ///   - actor: The caller's name in the audit log.
  /// - Throws: ``Problem/Code/unknown``.
  package func disable(_ serial: TokenSerial, _ isDisabled: Bool, by actor: AuditActor) async throws {
    let event = context.audit(by: actor)(
      isDisabled ? .tokenDisabled(token: serial.text) : .tokenEnabled(token: serial.text))
    try require(
      try await context.storage.disableToken(serial.text, isDisabled, audit: event), serial)
  }

  /// Removes a token and its secret.
  ///
  /// - Parameters:
  ///   - serial: The token.
  ///   - actor: The caller's name in the audit log.
  /// - Throws: ``Problem/Code/unknown``.
  package func remove(_ serial: TokenSerial, by actor: AuditActor) async throws {
    let event = context.audit(by: actor)(.tokenRemoved(token: serial.text))
    try require(
      try await context.storage.removeToken(serial.text, audit: event), serial)
  }

  private func require(
    _ outcome: TokenOutcome, _ serial: TokenSerial, _ user: UserID? = nil
  ) throws(Problem) {
    switch outcome {
    case .done: return
    case .unknownToken: throw Problem(.unknown, "There is no token \"\(serial.text)\".")
    case .unknownUser: throw Problem(noUser: user)
    }
  }
}

/// The serial number of a token: 1 to 64 visible ASCII characters.
package struct TokenSerial: Hashable, Sendable {
  /// The serial number as text.
  package let text: String

  /// Validates a serial number.
  ///
  /// - Parameter text: 1 to 64 visible ASCII characters; not `.` or `..`, which cannot be path segments.
  /// - Throws: ``Problem/Code/malformed``.
  package init(_ text: String) throws(Problem) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
      PercentEncoding.isSegment(text)
    else {
      throw Problem(.malformed, "A serial number has 1 to 64 visible ASCII characters, and is not . or ..")
    }
    self.text = text
  }
}
