import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetPush
package import SignetPushAuth
package import SignetStorage
import SignetSystem

/// Push messages to authenticator apps that follow Ping's protocol (`docs/protocol.md` section 15).
///
/// They enrol with a URI, and answer with signed tokens.
package struct PushAuthService: Sendable {
  /// The lifetime of an enrolment URI, in seconds.
  static let enrolmentSeconds: Int64 = 15 * 60
  /// The number of choices from which the user selects the right number: apps of Ping's kind show three.
  ///
  /// A guess is right in one of three cases.
  static let numberCount = 3
  /// The number of choices in an app that polls, as this project's app does; it shows any number of choices.
  static let ownNumberCount = 10
  /// The largest size of a token that push services carry with the other data of a push, in bytes.
  static let maximumTokenByteCount = 3_000
  private static let secretByteCount = 32
  static let (registers, authenticates) = ("REGISTER:", "AUTHENTICATE:")

  let context: ServiceContext

  package init(_ context: ServiceContext) { self.context = context }

  // MARK: Enrolment

  /// Creates a mechanism for a user, and the URI with which one app enrols.
  ///
  /// - Parameters:
  ///   - form: The user and the content of the URI.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The mechanism, and the URI with its secrets.
  /// - Throws: ``Problem``.
  package func enrol(
    _ form: NewPushApp, by actor: AuditActor
  ) async throws -> PushAuthInvitation {
    if let policies = form.policies { try Self.check(policies) }
    let id = ID<PushAuthMechanismRecord>(random: context.random)
    let secret = SharedSecretBox(.random(byteCount: Self.secretByteCount))
    let challenge = context.random.bytes(32)
    let endpoint = "\(context.settings.serverURL.fullForm)/v1/pushauth"
    let user = form.user
    let codes = try form.codes.map { form in
      try PushAuthCodes(form, of: user, beside: id, context)
    }
    var uri = AuthenticatorURI(
      scheme: codes == nil ? .pushauth : .mfauth,
      issuer: form.issuer ?? context.settings.serverURL.shortForm, account: form.account ?? user.text)
    uri.push = AuthenticatorURI.Push(
      registrationEndpoint: "\(endpoint)?_action=register",
      authenticationEndpoint: "\(endpoint)?_action=authenticate", sharedSecret: secret, challenge: challenge,
      loadBalancer: "route=1", messageID: Self.registers + id.text)
    uri.oath = codes?.uri
    uri.image = form.image
    uri.backgroundColor = form.backgroundColor
    uri.policies = form.policies
    uri.userID = user.text
    uri.resourceID = id.text
    let text = uri.insecureText
    // The server does not issue a URI that an app could not parse.
    do throws(InterchangeFailure) { _ = try AuthenticatorURI(text) } catch .tooLarge(let what, let limit) {
      throw Problem(
        .malformed, "The \(what) has more than \(limit) bytes; shorten issuer, account or policies.")
    } catch { throw Problem(.malformed, error.description) }
    let now = context.clock.now
    let sealed = try secret.withSecret {
      try context.masterKey.seal($0, for: .pushAuthSecret(mechanism: id))
    }
    var record = PushAuthMechanismRecord(
      id: id, user: user, sealedSecret: sealed, challenge: challenge, created: now,
      expires: now + Self.enrolmentSeconds, credential: codes?.record.id)
    (record.issuer, record.account) = (uri.issuer, uri.account)
    let event = context.audit(by: actor)(
      .pushAuthEnrolment(user: user, mechanism: id, token: codes?.record.serial))
    do throws(StorageFailure) {
      try await context.storage.addPushAuthMechanism(record, with: codes?.record, audit: event)
    } catch {
      guard error == .unknown else { throw error }
      throw Problem(noUser: user)
    }
    return PushAuthInvitation(id: id, uri: text, expires: record.expires, token: codes?.record.serial)
  }

  /// Rejects account policies with misspelled names, which would be ignored silently; an app may define its own policies.
  ///
  /// - Throws: ``Problem/Code/malformed``.
  private static func check(_ policies: JSONObject) throws {
    let unknown: [String]
    do throws(AccountPolicyFailure) {
      unknown = try AccountPolicyRegistry().check(AccountPolicySet(policies))
    } catch { throw Problem(.malformed, "\"policies\": \(error)") }
    let names = AccountPolicyRegistry.builtIn.map(\.name)
    for name in unknown {
      guard let suggestion = closest(to: name, among: names) else { continue }
      throw Problem(
        .malformed,
        "\"policies\": there is no policy \(name); did you mean \(suggestion)? Known names: \(names.joined(separator: ", ")); for a policy of your own app, choose a name that differs more from these"
      )
    }
  }

  // MARK: Messages

  /// Creates a transaction that only one app of a user may answer, and sends its message to the push service.
  ///
  /// - Parameters:
  ///   - form: The user or, if the user has several apps, the mechanism; and the content.
  ///   - requester: The requester's name that the transaction shows.
  ///   - actor: The caller's name in the audit log.
  ///   - key: The caller's API key; `nil` for none.
  /// - Returns: The message, with the content that the app receives.
  /// - Throws: ``Problem``.
  package func send(
    _ form: NewPushMessage, from requester: String, by actor: AuditActor, key: ID<APIKeyRecord>? = nil
  ) async throws -> SentPushAuthMessage {
    let mechanism = try await self.mechanism(for: form)
    guard let name = mechanism.mechanism else { throw Self.noMechanism }
    if let text = form.text, text.allSatisfy(\.isWhitespace) {
      throw Problem(.malformed, "\"text\" is empty; say what is asked")
    }
    if let text = form.text, RequestText.looksLikeSender(text) {
      throw Problem(
        .malformed, "\"text\" must not begin with \"From:\", with which the server names the relying party"
      )
    }
    if let text = form.context {
      do throws(JSONFailure) { _ = try JSONObject(parsing: Array(text.utf8)) } catch {
        throw Problem(.malformed, "\"context\" has to be a JSON object, which apps read: \(error)")
      }
    }
    let kind = form.kind ?? .default
    let draft = TransactionDraft(
      form.text.map { .text($0) } ?? .signIn, from: requester, user: mechanism.user,
      lifetime: form.lifetime ?? 120, statuses: [.accepted, .denied],
      numberDigits: kind == .challenge ? 2 : nil)
    let transactions = TransactionService(context)
    let made = try transactions.draft(draft, for: .pushApp, by: actor).made
    let prepared = try message(
      asking: made, form.text, kind, payload: form.customPayload, in: form.context, to: mechanism, named: name
    )
    guard let prepared else {
      throw Problem(.malformed, "the message is longer than push services carry; shorten its texts")
    }
    var authenticatorRequests = AuthenticatorRequestRecords()
    authenticatorRequests.messages = [(prepared.record, prepared.event(by: actor, context))]
    try await transactions.add(made.record, authenticatorRequests: authenticatorRequests, by: actor, key: key)
    let delivery = await deliver(prepared.token, prepared.message, mechanism, until: prepared.record.expires)
    return SentPushAuthMessage(
      record: prepared.record, number: made.number.flatMap { Int64($0.digits) },
      messageID: prepared.message.messageID, token: prepared.token, delivery: delivery)
  }

  func sealed(_ token: String, of id: ID<PushAuthMessageRecord>) throws -> [UInt8] {
    try context.masterKey.seal(SecretBytes(copying: Array(token.utf8)), for: .pushAuthToken(message: id))
  }

  func seal(_ number: Int64, of id: ID<PushAuthMessageRecord>) throws -> [UInt8] {
    let text = SecretBytes(copying: Array(String(number).utf8))
    return try context.masterKey.seal(text, for: .pushAuthNumber(message: id))
  }

  /// Returns a message by its id, for the relying party.
  package func message(_ id: ID<PushAuthMessageRecord>) async throws -> PushAuthMessageRecord {
    guard let found = try await context.storage.pushAuthMessage(id) else {
      throw Problem(.unknown, "There is no message with this id.")
    }
    let now = context.clock.now
    guard found.state == .pending, now >= found.expires else { return found }
    // Stored before it is reported, so that a clock that is set back does not reopen the message.
    try await context.sweep(at: now)
    guard var ended = try await context.storage.pushAuthMessage(id) else {
      throw Problem(.unknown, "There is no message with this id.")
    }
    // The sweep skips a message if its transaction's row was altered. That message cannot be answered either.
    if ended.state == .pending { ended.state = .expired }
    return ended
  }

  /// Returns a message by its id, with its status: its answer, or else the state of its transaction.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func messageStatus(
    of id: ID<PushAuthMessageRecord>
  ) async throws -> (message: PushAuthMessageRecord, status: String) {
    let found = try await message(id)
    let state = try await state(of: found.transaction)
    guard state != .pending else { return (found, found.state.rawValue) }
    // Read again: the answer changes message and transaction in one step, which may have happened between the two reads.
    let present = try await message(id)
    let isAnswered = present.state == .approved || present.state == .denied
    return (present, isAnswered ? present.state.rawValue : state.rawValue)
  }

  /// Returns the time of an app's last answer; `nil` for none.
  ///
  /// Messages are kept for 30 days after their end.
  func lastAnswer(of mechanism: PushAuthMechanismRecord) async throws -> Int64? {
    try await context.storage.lastAnsweredPushAuthMessage(of: mechanism.id)?.answered
  }

  private func mechanism(for form: NewPushMessage) async throws -> PushAuthMechanismRecord {
    if let id = form.mechanism {
      guard let found = try await context.storage.pushAuthMechanism(id),
        found.state == .active
      else { throw Self.noMechanism }
      guard form.user.map({ $0 == found.user }) ?? true else {
        throw Problem(.malformed, "The app does not belong to this user.")
      }
      return found
    }
    guard let user = form.user else {
      throw Problem(.malformed, JSONFailure.missingMember("user").description)
    }
    let active = try await context.storage.pushAuthMechanisms(user: user)
      .filter { $0.state == .active }
    guard let newest = active.last else {
      throw try await context.storage.user(user) == nil ? Problem(noUser: user) : Self.noMechanism
    }
    guard active.count == 1 else {
      throw Problem(
        .malformed,
        "The user has \(active.count) apps; name one by \"mechanism\". 'signet-server app list USER' shows them."
      )
    }
    return newest
  }

  static let noMechanism = Problem(
    .unknown, "No such app of the user is enrolled; 'signet-server app invite USER' invites one.")

  /// Returns the matching number and others with as many digits, in ascending order.
  func numbers(with matchingNumber: Int64, count: Int) -> [Int64] {
    var first: Int64 = 10
    while first * 10 <= matchingNumber { first *= 10 }
    var found = [matchingNumber]
    while found.count < count {
      let next = number(from: first)
      if !found.contains(next) { found.append(next) }
    }
    return found.sorted()
  }

  /// Returns a random number with as many digits as `first`, which is the smallest one.
  private func number(from first: Int64) -> Int64 {
    let random = context.random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return first + Int64(random % UInt64(9 * first))
  }

  func deliver(
    _ token: String, _ message: PushAuthMessage, _ mechanism: PushAuthMechanismRecord, until expires: Int64,
    while shouldRetry: (@Sendable () async -> Bool)? = nil
  ) async -> SentPushAuthMessage.Delivery {
    guard let target = target(of: mechanism), context.push.delivery.mayCarry(target) else {
      return isPolling(mechanism) ? .live : .none
    }
    let push = PushMessage(
      envelope: token, topic: String(message.messageID.suffix(22)), expires: expires,
      data: ["message": token, "messageId": message.messageID],
      notification: ["data": token, "messageId": message.messageID, "alert": message.text ?? ""])
    let delivery = context.push.delivery
    let outcome =
      if let shouldRetry {
        await delivery.deliver(push, to: target, while: shouldRetry)
      } else {
        await delivery.deliverOnce(push, to: target)
      }
    switch outcome {
    case .accepted: return .accepted
    case .targetGone: return .gone
    case .failed(let failure):
      context.log.error("pushauth.failed", ["mechanism": mechanism.id, "cause": failure.description])
      return .failed
    case .expired: return .failed
    }
  }

  /// Returns the push target of a mechanism; `nil` if no service of this server delivers to it.
  func target(of mechanism: PushAuthMechanismRecord) -> PushTarget? {
    guard let device = device(of: mechanism) else { return nil }
    switch device.service {
    case "apns":
      do { return .apns(token: try Hex.decode(device.token)) } catch { return nil }
    case "gcm", "fcm": return .fcm(token: device.token)
    case "webhook": return .webhook(address: device.token)
    default: return nil
    }
  }

  // MARK: Secrets

  func key(of mechanism: PushAuthMechanismRecord) throws -> PushAuthKey {
    let secret = try context.masterKey.open(
      mechanism.sealedSecret, for: .pushAuthSecret(mechanism: mechanism.id))
    do throws(PushAuthFailure) { return try PushAuthKey(secret) } catch {
      throw Problem(.serverFailure, "See the server's log.")
    }
  }

  package func device(of mechanism: PushAuthMechanismRecord) -> PushAuthDevice? {
    mechanism.sealedDevice.flatMap { device($0, of: mechanism.id) }
  }

  func device(_ sealed: [UInt8], of mechanism: ID<PushAuthMechanismRecord>) -> PushAuthDevice? {
    do {
      let text = try context.masterKey.open(sealed, for: .pushAuthDevice(mechanism: mechanism))
      return try PushAuthDevice(stored: text.withTemporaryArray { bytes in try JSONObject(parsing: bytes) })
    } catch {
      // The failure itself is not logged, since it may contain a part of the plain text.
      context.log.sampledError(
        "pushauth.failed", ["mechanism": mechanism, "cause": "the device cannot be read"])
      return nil
    }
  }

  func sealed(_ device: PushAuthDevice, of id: ID<PushAuthMechanismRecord>) throws -> [UInt8] {
    try context.masterKey.seal(SecretBytes(copying: device.json.bytes), for: .pushAuthDevice(mechanism: id))
  }

  /// Returns the id after the prefix of a message id.
  static func id<Named>(in messageID: String, of action: PushAuthAction) -> ID<Named>? {
    let prefix = action == .register ? registers : authenticates
    guard messageID.hasPrefix(prefix) else { return nil }
    return ID(checking: String(messageID.dropFirst(prefix.count)))
  }
}

/// A URI with which one app enrols.
package struct PushAuthInvitation: Sendable {
  package let id: ID<PushAuthMechanismRecord>
  /// The URI with its secrets.
  package let uri: String
  /// The time when the URI expires, in seconds since 1970.
  let expires: Int64
  /// The serial number of the token with the one-time codes; `nil` for none.
  package let token: String?
}

package struct SentPushAuthMessage: Sendable {
  package let record: PushAuthMessageRecord
  /// The number that the relying party shows.
  package let number: Int64?
  package let messageID: String
  package let token: String
  package let delivery: Delivery

  /// The outcome of a delivery to the push service.
  package enum Delivery: String, Sendable, CaseIterable {
    /// The service accepted it.
    case accepted = "taken"
    /// The service no longer knows the device.
    case gone
    /// The service did not accept it.
    case failed
    /// The app polls for it.
    case live
    /// No service of this server reaches the device, and the app does not poll.
    case none
  }
}
