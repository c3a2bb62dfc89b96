import SignetCrypto
import SignetIdentifiers
import SignetUAF
import SignetVault

/// An authenticator's answer to a command, with the vault failure that caused it.
struct CommandOutcome: Sendable {
  let answer: AuthenticatorAnswer
  /// The failure of the vault; `nil` if the answer has another cause.
  var failure: VaultFailure?

  init(_ answer: AuthenticatorAnswer, _ failure: VaultFailure? = nil) {
    self.answer = answer
    self.failure = failure
  }
}

/// The commands of UAF Authenticator Commands section 6.
extension UAFAuthenticators {
  /// The API version of the commands.
  static let apiVersion: UInt8 = 1
  /// The maximum number of key handles in one command.
  static let maximumKeyHandleCount: UInt8 = 16

  /// Processes an encoded command; a malformed command gets the answer "parameters invalid" of the command that its tag names.
  ///
  /// - Parameter bytes: The command.
  /// - Returns: The answer; empty if the bytes do not begin with the tag of a command.
  package func process(_ bytes: [UInt8]) async -> [UInt8] {
    let command: AuthenticatorCommand
    do throws(AuthenticatorCommandFailure) { command = try AuthenticatorCommand(parsing: bytes) } catch {
      guard let commandCode = AuthenticatorStatus.Command(beginningOf: bytes) else { return [] }
      return AuthenticatorAnswer(commandCode, .parametersInvalid).encoded
    }
    return await perform(command).answer.encoded
  }

  /// Processes a command.
  func perform(_ command: AuthenticatorCommand) async -> CommandOutcome {
    switch command {
    case .getInfo: await info()
    case .register(let command): await outcome(.register) { try await self.register(command) }
    case .sign(let command): await outcome(.sign) { try await self.sign(command) }
    case .deregister(let command): await outcome(.deregister) { try await self.deregister(command) }
    case .openSettings(let index):
      CommandOutcome(
        AuthenticatorAnswer(
          .openSettings,
          UAFAuthenticator.Kind(index: index) == nil ? .parametersInvalid : .commandNotSupported
        ))
    }
  }

  private func outcome(
    _ command: AuthenticatorStatus.Command, _ body: () async throws -> AuthenticatorAnswer.Payload
  ) async -> CommandOutcome {
    do { return CommandOutcome(AuthenticatorAnswer(command, .ok, try await body())) } catch {
      switch error {
      case let status as AuthenticatorStatus: return CommandOutcome(AuthenticatorAnswer(command, status))
      case let failure as VaultFailure:
        return CommandOutcome(AuthenticatorAnswer(command, AuthenticatorStatus(failure)), failure)
      default: return CommandOutcome(AuthenticatorAnswer(command, .unknown))
      }
    }
  }

  // MARK: GetInfo

  private func info() async -> CommandOutcome {
    var list: [AuthenticatorDescription] = []
    for kind in UAFAuthenticator.Kind.allCases {
      let isEnrolled: Bool
      do throws(VaultFailure) { isEnrolled = try await isUserEnrolled(kind) } catch {
        return CommandOutcome(AuthenticatorAnswer(.getInfo, AuthenticatorStatus(error)), error)
      }
      var traits: AuthenticatorDescription.Kind = [
        .storesKeyHandles, .expectsAppID, .acceptsUserVerifyTokens, .acceptsTransactionHashOnly,
      ]
      if isEnrolled { traits.insert(.isUserEnrolled) }
      list.append(
        AuthenticatorDescription(
          statement(of: kind), index: kind.index, kind: traits, maximumKeyHandles: Self.maximumKeyHandleCount)
      )
    }
    return CommandOutcome(AuthenticatorAnswer(.getInfo, .ok, .info(apiVersion: Self.apiVersion, list)))
  }

  /// Indicates whether the user has a key with a PIN or password, or has enrolled in the system.
  func isUserEnrolled(_ kind: UAFAuthenticator.Kind) async throws(VaultFailure) -> Bool {
    guard kind.hasOwnSecret else { return await availability(of: kind).isEnrolled }
    let aaid = aaid(of: kind)
    return try await store.contents()?.keys.contains { $0.aaid == aaid } ?? false
  }

  // MARK: Register

  private func register(_ command: AuthenticatorCommand.Register) async throws -> AuthenticatorAnswer.Payload
  {
    guard let kind = UAFAuthenticator.Kind(index: command.index), let appID = command.appID,
      command.finalChallengeHash.count == 32, command.accessToken.count == UAFKeyHandle.accessTokenByteCount,
      UAFKeyHandle.usernameByteCounts.contains(command.userName.utf8.count)
    else { throw AuthenticatorStatus.parametersInvalid }
    guard command.attestationType == .basicSurrogate else {
      throw AuthenticatorStatus.attestationNotSupported
    }
    guard case .enrolled(kind, let protection, let server) = redeem(command.userVerifyToken) else {
      throw AuthenticatorStatus.accessDenied
    }
    let (aaid, statement) = (aaid(of: kind), statement(of: kind))
    let keyID = KeyID.random()
    let key = try await vault.makeSigningKey()
    let unlocked = try await store.openOrMake()
    let contents = try UAFContents(unlocked.openedRecords())
    let handle = try UAFKeyHandle(
      accessToken: command.accessToken, keyID: keyID, username: command.userName
    ).wrapped(by: contents.wrappingKey, of: aaid)
    let stored = StoredUAFKey(
      keyID, aaid: aaid, appID: appID, server: server, created: store.clock.now, handle: handle)
    let domain = DomainDraft(
      name: StoredUAFKey.domain(keyID), protection: protection,
      records: [RecordDraft(name: VaultLayout.signingKey, secret: key.record)])
    // The key, its handle and the counters are stored in one transaction, before the assertion leaves.
    let (signCounter, registrationCounter) = try await vault.changeDomains(
      beside: unlocked, adding: [domain]
    ) { (records, _) throws(VaultFailure) in
      try records.set(StoredUAFKey.name(keyID), to: stored.record)
      return (
        try records.nextNumber(StoredUAFKey.counterName(keyID)),
        try records.nextNumber(StoredUAFKey.registrationsName(aaid))
      )
    }
    let data = KeyRegistrationData(
      aaid: aaid, authenticatorVersion: statement.authenticatorVersion, algorithm: statement.algorithm,
      keyFormat: statement.keyFormat, finalChallengeHash: command.finalChallengeHash, keyID: keyID,
      signCounter: signCounter, registrationCounter: registrationCounter,
      publicKey: key.publicKey.derRepresentation)
    let signature = try await key.signature(of: data.encoded)
    let assertion = RegistrationAssertion(data, .basicSurrogate(signature: signature.derRepresentation))
    return .registered(assertion: assertion.bytes, keyHandle: handle)
  }

  // MARK: Sign

  private static let nonceByteCount = 16

  private func sign(_ command: AuthenticatorCommand.Sign) async throws -> AuthenticatorAnswer.Payload {
    guard let kind = UAFAuthenticator.Kind(index: command.index), command.finalChallengeHash.count == 32,
      command.keyHandles.count <= Int(Self.maximumKeyHandleCount),
      command.transactionContent == nil || command.transactionHash == nil,
      command.transactionHash.map({ $0.count == 32 }) ?? true
    else { throw AuthenticatorStatus.parametersInvalid }
    let (aaid, statement) = (aaid(of: kind), statement(of: kind))
    guard let unlocked = try await store.open() else { throw AuthenticatorStatus.keyDisappearedPermanently }
    let contents = try UAFContents(unlocked.openedRecords())
    let (found, allowed) = Self.handles(of: command, aaid, contents)
    guard !found.isEmpty else { throw AuthenticatorStatus.keyDisappearedPermanently }
    guard let handle = allowed.first else { throw AuthenticatorStatus.accessDenied }
    guard allowed.count == 1 else {
      return .choice(
        allowed.map { AuthenticatorAnswer.Choice(userName: $0.content.username, keyHandle: $0.wrapped) })
    }
    let keyID = handle.content.keyID
    guard case .unlocked(keyID, let key) = redeem(command.userVerifyToken) else {
      throw AuthenticatorStatus.accessDenied
    }
    // The counter is incremented on the disk, and in a counter that restored files cannot roll back, before the assertion leaves.
    let counter = try await vault.changeDomains(beside: unlocked) { (records, _) throws(VaultFailure) in
      guard records.names.contains(StoredUAFKey.name(keyID)) else {
        throw .noSuchRecord(name: StoredUAFKey.name(keyID))
      }
      return try records.nextNumber(StoredUAFKey.counterName(keyID))
    }
    let transactionHash =
      command.transactionHash ?? command.transactionContent.map { HashFunction.sha256.digest(of: $0) }
    let mode: AuthenticationMode = transactionHash == nil ? .userVerified : .transactionConfirmed
    let data = SignedData(
      aaid: aaid, authenticatorVersion: statement.authenticatorVersion, mode: mode.rawValue,
      algorithm: statement.algorithm, nonce: SecureRandom.bytes(Self.nonceByteCount),
      finalChallengeHash: command.finalChallengeHash, transactionHash: transactionHash ?? [], keyID: keyID,
      signCounter: counter)
    let signature = try await key.signature(of: data.encoded)
    return .signed(assertion: AuthenticationAssertion(data, signature: signature.derRepresentation).bytes)
  }

  private typealias OpenedHandle = (wrapped: [UInt8], content: UAFKeyHandle)

  /// Returns the keys that a command names (all keys of the authenticator if it names none), and those of them that the caller may use.
  private static func handles(
    of command: AuthenticatorCommand.Sign, _ aaid: AAID, _ contents: UAFContents
  ) -> (found: [OpenedHandle], allowed: [OpenedHandle]) {
    let modelKeys = contents.keys.filter { $0.aaid == aaid }
    let found = modelKeys.compactMap { key -> OpenedHandle? in
      guard command.keyHandles.isEmpty || command.keyHandles.contains(key.handle),
        let content = contents.handle(of: key)
      else { return nil }
      return (key.handle, content)
    }
    return (found, found.filter { constantTimeEqual($0.content.accessToken, command.accessToken) })
  }

  // MARK: Deregister

  /// Deletes the keys that match the access token; the answer does not reveal whether there were any.
  private func deregister(
    _ command: AuthenticatorCommand.Deregister
  ) async throws -> AuthenticatorAnswer.Payload {
    guard let kind = UAFAuthenticator.Kind(index: command.index) else {
      throw AuthenticatorStatus.parametersInvalid
    }
    guard let contents = try await store.contents() else { return .nothing }
    let aaid = aaid(of: kind)
    let keys = contents.keys.filter { key in
      guard key.aaid == aaid, command.keyID == nil || command.keyID == key.keyID,
        let content = contents.handle(of: key)
      else { return false }
      return constantTimeEqual(content.accessToken, command.accessToken)
    }
    try await store.delete(keys.map(\.keyID))
    return .nothing
  }
}
