import AccountModel
import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import Synchronization

// The model's steps in the storage of a server.
extension Storage {
  /// Makes a step.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - judges: The services' decisions within it.
  ///   - name: The name of the attempt.
  ///   - time: The time.
  /// - Returns: The outcome that the client sees; `nil` if the answer was lost.
  func take(_ step: Step, by judges: Judges, named name: String, at time: Int64) async -> String? {
    do { return try await outcome(of: step, judges, named: name, at: time) } catch {
      switch error as? StorageFailure {
      case .userNotActive(let state): return "not active: \(state)"
      case .unknown: return "unknown"
      case .deviceLocked: return "device locked"
      case .containerLocked: return "container locked"
      case .exists: return "exists"
      // The error that the faults throw.
      case .failed(detail: "Lost"): return nil
      default: return "failed: \(error)"
      }
    }
  }

  private func outcome(
    of step: Step, _ judges: Judges, named name: String, at time: Int64
  ) async throws -> String {
    let event: @Sendable (String) -> AuditRecord = {
      AuditRecord(.userAdded(user: "\(name) \($0)"), by: .local, at: time)
    }
    let done = event("done")
    let ended: @Sendable (TransactionID) -> AuditRecord = { event("ended \($0)") }
    switch step {
    case .addUser(let user):
      try await addUser(UserRecord(id: "\(user)", subject: "~\(name)", created: time), audit: done)
      return "done"
    case .suspend(let user):
      let outcome = try await suspendUser(
        "\(user)", reason: "", subject: "~new \(name)", at: time, audit: event("changed"), ended: ended)
      return "\(outcome)"
    case .resume(let user): return "\(try await resumeUser("\(user)", at: time, audit: event("changed")))"
    case .delete(let user):
      let outcome = try await deleteUser(
        "\(user)", subject: "~new \(name)", at: time, audit: event("changed"), ended: ended)
      return "\(outcome)"
    case .addParty(let party):
      let key = APIKeyRecord(
        id: "\(party)", name: party, scopes: [Sample.scope], secretDigest: [1] + party.utf8, created: time)
      try await addAPIKey(key, audit: done)
      return "done"
    case .revokeParty(let party):
      return
        "\(try await revokeAPIKey("\(party)", keepingOneOf: Sample.scope, at: time, audit: event("revoked")))"
    case .removeKey(let key, let user):
      let selection = UAFKeySelection(aaid: Sample.aaid, keyID: Sample.keyID(of: key))
      return try await removeUAFCredentials(of: "\(user)", [selection]) { _, _ in done } == 1
        ? "done" : "nothing"
    case .removeApp(let app):
      return try await removePushAuthMechanism("\(app)", audit: done) ? "done" : "nothing"
    case .sweep:
      _ = try await sweep(at: time) { event("expired \($0)") }
      return "done"
    case .invite, .finish, .confirm, .stage, .revoke, .order, .receipt:
      return try await outcomeOfContainer(step, event, at: time)
    case .code, .resynchronise, .verify, .addToken, .assign, .disable, .removeToken, .unlock:
      return try await outcomeOfCodes(step, judges, event, at: time)
    case .end, .lockDevice, .unlockDevice, .revokeDevice:
      return try await outcomeOfDevice(step, event, at: time)
    case .ask, .decide, .withdraw: return try await outcomeOfRequest(step, judges, event, at: time)
    case .addClient, .revokeClient, .backchannel, .poll, .issue:
      return try await outcomeOfClient(step, event, at: time)
    case .addTarget, .removeTarget, .removeUAF, .token, .redeem, .refuse:
      return try await outcomeOfTarget(step, event, at: time)
    case .begin, .register, .login, .addApp, .registerApp, .message, .answer:
      return try await outcomeOfOthers(step, judges, event, at: time)
    }
  }

  private func outcomeOfContainer(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .invite(let invite, let user):
      let record = ActivationRecord(
        id: "\(invite)", user: "\(user)", sealedInviteKey: [1], salt: [2], memoryKiB: 1, passes: 1, lanes: 1,
        profile: [], created: time, expires: time + 1_000_000)
      try await addActivation(record, audit: done)
      return "done"
    case .finish(let invite, let container, let user, let device):
      let new = try Sample.container("\(container)", of: "\(user)", on: device, from: "\(invite)")
      return try await finishActivation("\(invite)", container: new, limit: 5, at: time) { outcome in
        event("\(outcome)")
      }.word
    case .confirm(let container):
      return try await confirmContainer(
        "\(container)", at: time, audit: { outcome in event(outcome.word) }, lost: losses(event)
      ).word
    case .stage(let container, let renewed, let activation, let user, let device):
      var new = try Sample.container("\(container)", of: "\(user)", on: device, from: "\(activation)")
      new.container.renews = "\(renewed)"
      return
        "\(try await stageRenewal(of: "\(renewed)", by: new, limit: Traits.codeAttempts) { event("\($0)") })"
    case .revoke(let container):
      return try await revokeContainer("\(container)", audit: done, lost: losses(event)) ? "done" : "nothing"
    case .order(let order, let container, let kind):
      let action: DeviceCommandRecord.Action =
        switch kind {
        case .lock: .lock
        case .unlock: .unlock
        case .wipe: .wipe
        }
      let record = DeviceCommandRecord(
        id: "\(order)", container: "\(container)", action: action, reason: "", created: time)
      switch try await addDeviceCommand(record, audit: event("added")) {
      case .added: return "added"
      case .notInUse: return "not in use"
      case .toBeWiped: return "to be wiped"
      }
    case .receipt(let order, let container):
      let isKnown = try await receiveDeviceCommand(
        "\(order)", of: "\(container)", receipt: "r", at: time, audit: done, lost: losses(event))
      return isKnown ? "done" : "nothing"
    default: preconditionFailure("not about a container")
    }
  }

  private func outcomeOfRequest(
    _ step: Step, _ judges: Judges, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let limits = Sample.limits
    switch step {
    case .ask(let request, let user, let expires, let party):
      var record = TransactionRecord(
        id: "\(request)", user: user.map { "\($0)" }, content: Sample.content, created: time, expires: expires
      )
      (record.requester, record.requirements) = (party, Traits.names(of: request))
      if Traits.hasNumber(request) {
        record.sealedNumber = try judges.transactions.seal(try Sample.number(isRight: true), of: "\(request)")
      }
      let asked = record
      var authenticatorRequests = AuthenticatorRequestRecords()
      authenticatorRequests.mayAskUAFKeys = true
      return
        "\(try await addTransaction(asked, key: "\(party)", limits: limits, authenticatorRequests: authenticatorRequests) { event("\($0)") })"
    case .decide(let container, let user, let device, let request, let accepts, let isNumberRight):
      let holder = try Sample.container("\(container)", of: "\(user)", on: device, from: "").container
      let (signer, evidence) = (SignerRecord(holder), AuthenticationEvidence(of: holder, isSigned: true))
      let number = Traits.hasNumber(request) && accepts ? try Sample.number(isRight: isNumberRight) : nil
      let decision = DecisionRecord(
        state: accepts ? .accepted : .denied, jws: "jws", container: "\(container)", time: time)
      let attempt = DecisionAttempt(
        transaction: "\(request)", by: signer, request: Sample.requestID(event("").event),
        expires: time + 1_000_000)
      return try await decideTransaction(attempt, limits: limits) {
        (transaction, lastReport) throws(StorageFailure) in
        try judges.transactions.verdict(
          on: transaction, decision, number: number, isSigned: true, showing: evidence,
          lastReport: lastReport)
      } audit: {
        event($0.word)
      }.value.word
    case .withdraw(let request, let party):
      let end = EndRecord(state: .withdrawn, reason: "", container: nil, time: time)
      return try await endTransaction("\(request)", end, isSuspicious: false, key: "\(party)", limits: limits)
      {
        event($0.word)
      }.word
    default: preconditionFailure("not about a request")
    }
  }

  /// Makes the events of a step's side effects.
  func losses(
    _ event: @escaping @Sendable (String) -> AuditRecord
  ) -> @Sendable (DeviceLoss) -> AuditRecord {
    { loss in
      switch loss {
      case .container(let id): event("lost \(id)")
      case .target(let id): event("lost \(id)")
      case .key(_, _, let keyID): event("lost \(Sample.name(ofKey: keyID))")
      }
    }
  }

  private func outcomeOfOthers(
    _ step: Step, _ judges: Judges, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .begin(let session, let user, let isRegistration, let request, let party):
      var record = UAFOperationRecord(
        id: "\(session)", operation: isRegistration ? "Reg" : "Auth", user: "\(user)", created: time,
        expires: time + Model.sessionLifetime, state: .requested)
      (record.transaction, record.requester) = (request.map { "\($0)" }, party)
      record.target = party.map { _ in "device of \(user)" }
      let begun = record
      let word: @Sendable (AdmissionOutcome) -> String = { $0 == .added ? "done" : "\($0)" }
      return word(try await addUAFOperation(begun, limits: Sample.limits) { event(word($0)) })
    case .register(let session, let key, let publicKey, let user, let device):
      var credential = UAFCredentialRecord(
        aaid: Sample.aaid, keyID: Sample.keyID(of: key), user: "\(user)",
        publicKey: try Sample.signingKey(publicKey),
        algorithm: 1,
        keyFormat: 0x100, signCounter: 0, registrationCounter: 0, authenticatorVersion: 1, created: time)
      credential.device = device.map { Hex.encode(Sample.device($0)) }
      let protection = Traits.protection(ofKey: key)
      // The bits of the FIDO registry: software, or hardware.
      credential.keyProtection = protection == .software ? 1 : 2
      credential.modelProof = protection == .attested ? .attested : .claimed
      let end = UAFOperationEnd(status: 1200, time: time)
      let key = credential
      return try await finishUAFRegistration("\(session)", end, adding: [key.new], limit: 1000) {
        event($0.word)
      } check: {
        judges.uaf.refusal(of: [key], under: Traits.policy(of: session))
      }.word
    case .login(let session, let user, let key, let counter):
      let use = CounterUpdate(aaid: Sample.aaid, keyID: Sample.keyID(of: key), signCounter: counter)
      let used: JSONValue = [["aaid": .string(use.aaid), "keyId": .string(Base64URL.encode(use.keyID))]]
      let end = UAFOperationEnd(
        status: 1200, authenticators: String(decoding: used.bytes, as: UTF8.self), time: time)
      return try await finishUAFAuthentication("\(session)", of: "\(user)", end, uses: [use]) {
        event($0.word)
      } check: { keys, transaction in
        judges.uaf.refusal(
          of: keys, under: Traits.policy(of: session), for: transaction, signsInHere: false
        ) { _ in transaction != nil }
      }.word
    case .addApp(let app, let user):
      let record = PushAuthMechanismRecord(
        id: "\(app)", user: "\(user)", sealedSecret: [1], challenge: [2], created: time,
        expires: time + 1_000_000)
      try await addPushAuthMechanism(record, with: nil, audit: done)
      return "done"
    case .registerApp(let app):
      return try await registerPushAuthMechanism(
        "\(app)", named: "app of \(app)", sealedDevice: [3], at: time, audit: done) ? "done" : "refused"
    case .message(let message, let request, let app, let user, let expires, let party):
      var record = TransactionRecord(
        id: "\(request)", user: "\(user)", content: Sample.content, created: time, expires: expires)
      (record.requester, record.soleKind) = (party, .pushApp)
      var authenticatorRequests = AuthenticatorRequestRecords()
      authenticatorRequests.messages = [
        (
          PushAuthMessageRecord(
            id: "\(message)", of: "\(request)", mechanism: "\(app)", kind: "default", challenge: [4],
            created: time,
            expires: expires), event("sent \(message)")
        )
      ]
      let (asked, ways) = (record, authenticatorRequests)
      return
        "\(try await addTransaction(asked, key: "\(party)", limits: Sample.limits, authenticatorRequests: ways) { event("\($0)") })"
    case .answer(let message, let approves):
      let outcome = try await answerPushAuthMessage(
        "\(message)", approves ? .approved { judges.able.mayAnswerByApp($0) } : .denied(), at: time,
        audit: done)
      return switch outcome {
      case .accepted: "done"
      case .ended: "refused"
      case .insufficient: "insufficient"
      }
    default: preconditionFailure("not about a key or an app")
    }
  }
}

/// Records of the simulation.
enum Sample {
  static let aaid = "7357#0001"
  static let scope = "rp"
  /// The text of requests, plain enough for UAF to show.
  static let content = #"{"from":"shop","text":"Pay 1 EUR"}"#
  static let limits = TransactionLimits(
    pending: History.budget.pending, challenges: History.budget.challenges, wait: History.budget.wait,
    longestWait: History.budget.longestWait, wrongNumbers: Traits.wrongNumbers)

  /// A container whose device reports the protection of its keys; its profile determines the user verification.
  ///
  /// - Throws: `CryptoFailure`.
  static func container(
    _ id: ContainerID, of user: UserID, on device: UInt8, from activation: ID<ActivationRecord>
  ) throws -> NewContainer {
    var container = ContainerRecord(
      id: id, user: user, activation: activation, device: Self.device(device), name: "",
      platform: "", keystore: "", sessionKey: [1] + id.text.utf8, encryptionKey: [2] + id.text.utf8,
      signingKey: try signingKey("\(id)"),
      profile: Traits.verifiesUser(onDevice: device) ? verifyingProfile : profile, created: 0)
    container.keyOrigin = Traits.protection(ofContainer: "\(id)") == .software ? "software" : "tpm2"
    return NewContainer(container, try credential(ID(of: id), of: user))
  }

  /// The number that a party shows, or another one.
  ///
  /// - Throws: `WireFailure`.
  static func number(isRight: Bool) throws -> MatchingNumber { try MatchingNumber(isRight ? "42" : "24") }

  private static let profile = profile(.device)
  /// The profile of containers with user verification.
  private static let verifyingProfile = profile(.devicePasscode)

  private static func profile(_ protection: ProtectionPolicy) -> [UInt8] {
    ContainerProfile(protection: protection, totp: .standard).json.bytes
  }

  /// The ID of a UAF key, at least 32 bytes.
  static func keyID(of name: String) -> [UInt8] {
    Array(name.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: max(0, 32 - name.utf8.count))
  }

  /// The name of the key with an ID.
  static func name(ofKey id: [UInt8]) -> String {
    String(decoding: id.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }

  /// The installation ID of a device.
  static func device(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

  /// The public signing key of a container or of a UAF key; the same each time.
  ///
  /// - Throws: `CryptoFailure`.
  static func signingKey(_ name: String) throws -> [UInt8] {
    try signingKeys.withLock { known in
      if let key = known[name] { return key }
      let seed = HashFunction.sha512.digest(of: Array(name.utf8)).prefix(P256.seedByteCount)
      let key = try P256.Signing.PrivateKey(seed: SecretBytes(copying: Array(seed)))
      known[name] = key.publicKey.x963Representation
      return key.publicKey.x963Representation
    }
  }

  /// A cache, since making a key takes longer than a step.
  private static let signingKeys = Mutex<[String: [UInt8]]>([:])

  /// A request ID of 16 bytes, unique to each attempt.
  static func requestID(_ event: AuditEvent) -> [UInt8] {
    Array(HashFunction.sha256.digest(of: Array("\(event)".utf8)).prefix(16))
  }
}

extension ActivationOutcome {
  fileprivate var word: String { "\(self)" }
}

extension ConfirmationOutcome {
  fileprivate var word: String { self == .alreadyActive ? "already active" : "\(self)" }
}

extension DecisionOutcome {
  fileprivate var word: String {
    switch self {
    case .decidedBefore: "decided before"
    case .signerChanged: "signer changed"
    case .containerLocked: "container locked"
    case .wrongNumber(let remaining): "wrong number, \(remaining) left"
    case .mismatch: "mismatch"
    default: "\(self)"
    }
  }
}

extension UAFOutcome {
  fileprivate var word: String {
    switch self {
    case .keyExists: "key exists"
    case .keyUnknown: "key unknown"
    case .clonedAuthenticator: "cloned authenticator"
    case .transactionEnded: "transaction over"
    case .tooMany: "too many"
    case .altered: "altered"
    case .requirementNotMet: "requirement not met"
    case .accepted, .expired: "\(self)"
    }
  }
}
