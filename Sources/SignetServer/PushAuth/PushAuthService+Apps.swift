import SignetCrypto
package import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetStorage
import SignetSystem

/// The requests of authenticator apps: registrations, answers and new push tokens.
extension PushAuthService {
  /// Handles an app's request.
  ///
  /// The answer is 200 with an empty object, 400 with a refusal in the form of these apps, or a problem if the server fails.
  package func take(_ request: ServerRequest) async -> ServerResponse {
    guard let name = request.query["_action"], let action = PushAuthAction(rawValue: name) else {
      return Self.refusal("_action is register, authenticate or refresh")
    }
    do {
      let submission = try PushAuthSubmission(parsing: request.body, for: action)
      switch action {
      case .register: return try await register(submission)
      case .authenticate: return try await answer(submission)
      case .refresh: return try await refresh(submission)
      }
    } catch let error as PushAuthFailure {
      return Self.refusal(error.description)
    } catch { return Dialect.pushApps.response(to: error, context) }
  }

  private func register(_ submission: PushAuthSubmission) async throws -> ServerResponse {
    guard
      let id: ID<PushAuthMechanismRecord> = submission.messageID.flatMap({ Self.id(in: $0, of: .register) }),
      let mechanism = try await context.storage.pushAuthMechanism(id),
      mechanism.state == .open, context.clock.now < mechanism.expires
    else { return Self.refused }
    let key = try key(of: mechanism)
    let (name, device): (String, PushAuthDevice)
    do throws(PushAuthFailure) {
      (name, device) = try submission.registration(with: key, challenge: mechanism.challenge)
    } catch { return refused(error, mechanism) }
    let event = context.audit(by: .app(id))(
      .pushAuthRegistered(
        user: mechanism.user, mechanism: id, platform: device.platform, service: device.service))
    let isRegistered: Bool
    do throws(StorageFailure) {
      isRegistered = try await context.storage.registerPushAuthMechanism(
        id, named: name, sealedDevice: try sealedDevice(device, id), at: context.clock.now, audit: event)
    } catch {
      guard error == .exists else { throw error }
      return Self.refused
    }
    return isRegistered ? .json([:]) : Self.refused
  }

  /// Returns the device, encrypted; a failure to encrypt counts as a failure to store.
  private func sealedDevice(_ device: PushAuthDevice, _ id: ID<PushAuthMechanismRecord>)
    throws(StorageFailure) -> [UInt8]
  {
    do { return try sealed(device, of: id) } catch {
      throw .failed(detail: "the device cannot be encrypted")
    }
  }

  private func answer(_ submission: PushAuthSubmission) async throws -> ServerResponse {
    guard
      let id: ID<PushAuthMessageRecord> = submission.messageID.flatMap({ Self.id(in: $0, of: .authenticate) }
      ),
      let message = try await context.storage.pushAuthMessage(id),
      let mechanism = try await context.storage.pushAuthMechanism(message.mechanism),
      mechanism.state == .active
    else { return Self.refused }
    let key = try key(of: mechanism)
    let (isDenied, number): (Bool, String?)
    do throws(PushAuthFailure) {
      (isDenied, number) = try submission.answer(with: key, challenge: message.challenge)
    } catch { return refused(error, mechanism) }
    let now = context.clock.now
    let audit = context.audit(by: .app(mechanism.id))
    let transaction = message.transaction
    if !isDenied, let sealed = message.sealedNumber {
      let expectedNumber = try context.masterKey.open(sealed, for: .pushAuthNumber(message: id))
      let typed = SecretBytes(copying: Array((number ?? "").utf8))
      guard expectedNumber.isEqual(to: typed) else {
        let event = audit(
          .pushAuthWrongNumber(user: mechanism.user, message: id, transaction: transaction))
        let evidence = try await evidence(
          of: submission, to: message, mechanism, .denied, reason: EndRecord.wrongNumber, at: now)
        let outcome = try await context.storage.answerPushAuthMessage(
          id, .denied(because: EndRecord.wrongNumber), evidence: evidence, at: now, audit: event)
        guard outcome == .accepted else { return Self.ended }
        return Self.refusal("The number is wrong.", remaining: 0)
      }
    }
    let event: AuditEvent =
      isDenied
      ? .pushAuthDenied(user: mechanism.user, message: id, transaction: transaction)
      : .pushAuthApproved(user: mechanism.user, message: id, transaction: transaction)
    let evidence = try await evidence(
      of: submission, to: message, mechanism, isDenied ? .denied : .accepted, at: now)
    let decision: PushAppDecision =
      isDenied ? .denied() : .approved { [able = context.able] in able.mayAnswerByApp($0) }
    let outcome = try await context.storage.answerPushAuthMessage(
      id, decision, evidence: evidence, at: now, audit: audit(event))
    switch outcome {
    case .accepted: return .json([:])
    case .ended: return Self.ended
    case .insufficient: return Self.refusal("An app cannot approve this request.")
    }
  }

  /// Returns the evidence to keep of an answer.
  ///
  /// It is `nil` if the message is no longer pending, or if the evidence for a denial cannot be created.
  private func evidence(
    of submission: PushAuthSubmission, to message: PushAuthMessageRecord,
    _ mechanism: PushAuthMechanismRecord, _ status: TransactionRecord.State, reason: String? = nil,
    at time: Int64
  ) async throws -> EvidenceRecord? {
    guard message.state == .pending,
      let transaction = try await context.storage.transaction(message.transaction)
    else { return nil }
    let statement = AnswerStatement(
      to: transaction, at: context.settings.serverURL, by: mechanism.user, status, with: mechanism.id.text,
      reason: reason, time: time)
    do {
      guard let sealed = message.sealedToken else {
        throw StorageFailure.altered(row: message.id.text, of: "pushauth_messages")
      }
      let opened = try context.masterKey.open(sealed, for: .pushAuthToken(message: message.id))
      let record = try statement.record(
        of: .app(
          AnswerEvidence.App(
            message: String(decoding: opened.insecureCopy(), as: UTF8.self), answer: submission.token)),
        about: transaction.content, signedBy: try await SigningKeyService(context).current(),
        sealedKey: mechanism.sealedSecret)
      guard let record else {
        throw PushAuthFailure.malformed(reason: "is longer than the server can store as evidence")
      }
      return record
    } catch  where status == .denied {
      return nil  // a denial counts even without evidence
    }
  }

  /// The refusal of a late answer; it reveals the end only to the app that was asked, since its token verified.
  private static let ended = refusal(PushAuthSubmission.endedReason)

  private func refresh(_ submission: PushAuthSubmission) async throws -> ServerResponse {
    guard let name = submission.mechanismID,
      let mechanism = try await context.storage.pushAuthMechanism(named: name),
      mechanism.state == .active,
      submission.userID.map({ $0.hasSameBytes(as: mechanism.user.text) }) ?? true
    else { return Self.refused }
    let key = try key(of: mechanism)
    let device: PushAuthDevice
    do throws(PushAuthFailure) { device = try submission.device(with: key) } catch {
      return refused(error, mechanism)
    }
    // Apps send the same device at each start; then nothing is written or audited.
    if self.device(of: mechanism) == device { return .json([:]) }
    let event = context.audit(by: .app(mechanism.id))(
      .pushAuthDeviceChanged(user: mechanism.user, mechanism: mechanism.id, service: device.service))
    let isChanged = try await context.storage.changePushAuthDevice(
      mechanism.id, sealedDevice: try sealedDevice(device, mechanism.id), digest: submission.digest,
      audit: event)
    return isChanged ? .json([:]) : Self.refused
  }

  /// Returns a refusal without the cause, and logs the cause.
  func refused(_ failure: PushAuthFailure, _ mechanism: PushAuthMechanismRecord) -> ServerResponse {
    context.log.sampled("pushauth.refused", ["mechanism": mechanism.id, "cause": failure.description])
    return Self.refused
  }

  static let refused = refusal(PushAuthSubmission.refusedReason)

  /// Returns a refusal in the form that these apps expect.
  static func refusal(_ message: String, remaining: Int64? = nil) -> ServerResponse {
    let refusal = PushAppRefusal(
      code: 400, reason: "Bad Request", message: message, detail: .init(remaining: remaining))
    return .json(refusal.json, status: 400)
  }
}
