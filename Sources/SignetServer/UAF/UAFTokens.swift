import SignetCrypto
import SignetImages
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetPush
import SignetStorage
import SignetSystem
import SignetUAF

/// Tokens with which a device begins an operation that was ordered elsewhere, and the ways to deliver them.
struct UAFTokens: Sendable {
  /// A way to deliver a token to a device.
  enum Dispatcher: String, Sendable {
    /// Google's push service.
    case firebase = "firebase-cloud-messaging"
    /// The operator's own gateway, which delivers the token by a means of its choice.
    case webhook
    /// No delivery: the device polls for waiting operations and is answered as soon as there is one.
    case live
    /// A link that the user opens on the device.
    case link
    /// A QR code with the token, as PNG.
    case picture = "png-qr-code"
    /// A QR code with the link, as PNG.
    case linkPicture = "link-png-qr-code"

    /// The push service that delivers to the device's address; `nil` if the answer contains the token or the device polls.
    var service: PushTarget.Service? {
      switch self {
      case .firebase: .fcm
      case .webhook: .webhook
      case .live, .link, .picture, .linkPicture: nil
      }
    }
  }

  enum DispatchResult: String, Sendable, CaseIterable {
    case dispatched, dispatchError, dispatchTargetExpired, dispatchTargetNotFound, dispatcherNotFound,
      userNotFound, internalError
  }

  private let context: ServiceContext
  private let setup: UAFSetup
  private let requests: UAFRequests
  private let targets: UAFTargets
  private let keys: UAFKeys

  init(
    _ context: ServiceContext, _ setup: UAFSetup, _ requests: UAFRequests, _ targets: UAFTargets,
    _ keys: UAFKeys
  ) {
    self.context = context
    self.setup = setup
    self.requests = requests
    self.targets = targets
    self.keys = keys
  }

  init(_ context: ServiceContext, _ setup: UAFSetup, _ transactions: TransactionService) {
    self.init(
      context, setup, UAFRequests(context, setup, transactions), UAFTargets(context, setup.settings),
      UAFKeys(context))
  }

  struct Made: Sendable {
    var token: String
    var session: UAFOperationRecord
    /// The transaction to be stored with the operation; `nil` for none.
    var transaction: UAFOnlyTransaction?
  }

  /// Creates a token without sending it.
  ///
  /// - Parameters:
  ///   - asked: The order.
  ///   - operation: The operation that the path is for.
  ///   - caller: The relying party.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: The token. The server stores only its digest, so it cannot be shown again.
  func create(
    _ asked: GetUAFRequest, for operation: UAFOperation, by caller: UAFCaller
  ) async throws -> Made {
    let made = try await prepare(asked, for: operation, by: caller)
    try await add(made, by: caller)
    return made
  }

  private func prepare(
    _ asked: GetUAFRequest, for operation: UAFOperation, by caller: UAFCaller
  ) async throws -> Made {
    let order = try await requests.order(asked, for: operation, by: caller)
    let session = requests.session(for: order, asked.context)
    var made = made(session, until: session.created + setup.settings.tokenLifetime)
    made.transaction = requests.uafOnlyTransaction(order, by: caller)
    return made
  }

  private func made(_ session: UAFOperationRecord, until end: Int64) -> Made {
    var session = session
    let token = Self.uuid(context.random.bytes(16))
    session.state = .tokenCreated
    session.tokenDigest = Self.digest(of: token)
    (session.tokenExpires, session.expires) = (end, end)
    return Made(token: token, session: session)
  }

  private func add(_ made: Made, by caller: UAFCaller) async throws {
    var session = made.session
    session.requester = caller.actor.text
    let (record, audit) = (session, context.audit(by: caller.actor))
    let outcome = try await context.storage.addUAFOperation(
      record, answering: made.transaction, limits: context.settings.transactionLimits
    ) { outcome in
      audit(
        outcome == .added
          ? .uafTokenAdded(
            session: record.id, operation: record.operation, user: record.user, target: record.target)
          : .uafTokenRefused(
            user: record.user, operation: record.operation, target: record.target, outcome))
    }
    try TransactionService.check(outcome)
  }

  /// Creates a token and sends it.
  ///
  /// - Parameters:
  ///   - body: The body of the request.
  ///   - operation: The operation that the path is for.
  ///   - caller: The relying party.
  /// - Throws: ``UAFStatusFailure`` for an invalid order, ``Problem`` if the user is asked too often. A failure to send is
  ///   reported in the answer.
  /// - Returns: The answer.
  func dispatch(
    _ body: UAFDispatch, for operation: UAFOperation, by caller: UAFCaller
  ) async throws -> UAFDispatched {
    let asked = try readingUAF(GetUAFRequest(parsing: body.request.bytes))
    var made: Made
    do { made = try await prepare(asked, for: operation, by: caller) } catch let failure as UAFStatusFailure
      where failure.status == .notFound
    {
      return Self.answer(nil, .userNotFound, nil)
    }
    var target: UAFTargetRecord?
    if let name = body.target {
      if let id = ID<UAFTargetRecord>(checking: name) { target = try await context.storage.uafTarget(id) }
      let belongsToUser = made.session.user == nil || target?.user == made.session.user
      guard target != nil, belongsToUser else { return Self.answer(nil, .dispatchTargetNotFound, nil) }
    }
    let defaultDispatcher = target.flatMap {
      targets.isPolling($0) ? Dispatcher.live.rawValue : $0.dispatcher
    }
    guard let dispatcher = (body.dispatcher ?? defaultDispatcher).flatMap(Dispatcher.init(rawValue:)) else {
      return Self.answer(nil, .dispatcherNotFound, nil)
    }
    if dispatcher == .live, target?.device == nil { return Self.answer(nil, .dispatchTargetNotFound, nil) }
    if let service = dispatcher.service {
      guard context.push.delivery.services.contains(service) else {
        return Self.answer(nil, .dispatcherNotFound, nil)
      }
      guard target?.sealedTarget != nil else { return Self.answer(nil, .dispatchTargetNotFound, nil) }
    }
    let payload: Payload
    do { payload = try self.payload(made, operation, target, body.information) } catch {
      return Self.answer(nil, .internalError, nil)
    }
    // Only the user of the target device may answer.
    if let target { made.session.user = target.user }
    made.session.dispatcher = dispatcher.rawValue
    made.session.target = target?.id
    if target != nil {
      made.session.sealedPayload = try context.masterKey.seal(
        SecretBytes(copying: Array(payload.text.utf8)), for: .uafPayload(session: made.session.id))
    }
    // Stored before it is sent, since a device may redeem the token at once.
    do { try await add(made, by: caller) } catch let problem as Problem where problem.code == .unknown {
      // The same result as for a transaction that had ended before.
      return Self.answer(nil, .userNotFound, nil)
    }
    let (result, response) = await send(made, dispatcher, payload, target)
    return Self.answer(made, result, (dispatcher, response))
  }

  private static func answer(
    _ made: Made?, _ result: DispatchResult, _ sent: (dispatcher: Dispatcher, response: String?)?
  ) -> UAFDispatched {
    UAFDispatched(
      token: made?.token, session: made?.session.id,
      information: sent.map { .init(name: $0.dispatcher.rawValue, response: $0.response) }, result: result)
  }

  struct Payload: Sendable {
    /// JSON, plain or encrypted to the device's key.
    let text: String
    /// The compact JWE; `nil` for a plain payload.
    let encrypted: String?

    fileprivate init(_ data: JSONValue, _ type: String, encrypted: String?) {
      self.encrypted = encrypted
      text =
        JSONValue.object([
          "nma_data": data, "nma_data_content_type": .string(type), "nma_data_version": .string(Self.version),
        ]).text
    }

    /// The members of an encrypted payload, each as text.
    var members: [String: String]? {
      encrypted.map {
        [
          "nma_data": $0, "nma_data_content_type": Self.encryptedType, "nma_data_version": Self.version,
        ]
      }
    }

    fileprivate static let version = "1"
    fileprivate static let plainType = "application/json"
    fileprivate static let encryptedType = "application/jose"
  }

  private func payload(
    _ made: Made, _ operation: UAFOperation, _ target: UAFTargetRecord?, _ information: JSONObject?
  ) throws -> Payload {
    var data: JSONObject = [
      "token": .string(made.token), "redeem_url": .string(requests.names.redeem(operation)),
    ]
    if let information {
      for (name, value) in information.members where data[name] == nil { data[name] = value }
    }
    guard let encoded = target?.encryptionKey else {
      return Payload(.object(data), Payload.plainType, encrypted: nil)
    }
    do {
      let key = EncryptionKey(try P256.KeyAgreement.PublicKey(x963: encoded))
      let sealed = try JWE.encrypt(data.bytes, for: key)
      return Payload(.string(sealed), Payload.encryptedType, encrypted: sealed)
    } catch {
      context.log.error("crypto.failed", ["cause": "\(error)"])
      throw UAFStatusFailure(.internalError, "the payload can't be encrypted")
    }
  }

  private func send(
    _ made: Made, _ dispatcher: Dispatcher, _ payload: Payload,
    _ target: UAFTargetRecord?
  ) async -> (DispatchResult, String?) {
    let link = "\(setup.settings.link)?dispatchTokenResponse=\(Base64URL.encode(Array(payload.text.utf8)))"
    switch dispatcher {
    case .live: return (.dispatched, nil)
    case .link: return (.dispatched, link)
    case .picture: return Self.picture(of: payload.text)
    case .linkPicture: return Self.picture(of: link)
    case .firebase, .webhook:
      guard let target else { return (.dispatchTargetNotFound, nil) }
      return (await targets.push(payload, of: made.session, to: target, by: dispatcher), nil)
    }
  }

  // MARK: Operations ordered by the server

  /// Adds operations that ask the user's keys to confirm a transaction: one for each target with an address, or that polls.
  ///
  /// A failure is logged and adds no operation, since other authenticators may still confirm the transaction.
  func ask(
    _ transaction: TransactionRecord, in authenticatorRequests: inout TransactionService.AuthenticatorRequests
  ) async {
    do {
      guard let user = transaction.user,
        let (order, text) = try await requests.order(confirming: transaction)
      else { return }
      let shown = RequestText(try TransactionContent(parsing: transaction.content)).text
      for target in try await context.storage.uafTargets(user: user) {
        // A device that sent its address later has named no dispatcher. Firebase is the default for all such targets.
        let isLive = targets.isPolling(target)
        let name = isLive ? Dispatcher.live.rawValue : target.dispatcher ?? Dispatcher.firebase.rawValue
        guard let dispatcher = Dispatcher(rawValue: name),
          isLive || targets.address(of: target, by: dispatcher) != nil
        else { continue }
        var made = made(requests.session(for: order, text), until: transaction.expires)
        // A polling device shows the text before it accepts the operation. A push service carries only the token.
        let payload = try self.payload(made, .authentication, target, isLive ? ["data": .string(shown)] : nil)
        (made.session.dispatcher, made.session.target) = (dispatcher.rawValue, target.id)
        made.session.sealedPayload = try context.masterKey.seal(
          SecretBytes(copying: Array(payload.text.utf8)), for: .uafPayload(session: made.session.id))
        let session = made.session
        let event = context.audit(by: .server)(
          .uafTokenAdded(
            session: session.id, operation: session.operation, user: session.user, target: target.id))
        authenticatorRequests.records.sessions.append((session, event))
        if isLive { continue }
        authenticatorRequests.deliveries.append { [context, targets] in
          let isOpen = { @Sendable in await Self.isOpen(session.id, context) }
          guard await isOpen() else { return }
          _ = await targets.push(payload, of: session, to: target, by: dispatcher, while: isOpen)
        }
      }
    } catch { context.log.error("uaf.failed", ["transaction": transaction.id, "cause": "\(error)"]) }
  }

  /// Returns true if the operation was stored and has not ended, or if that cannot be read.
  ///
  /// An operation for a locked device is not stored.
  private static func isOpen(_ session: ID<UAFOperationRecord>, _ context: ServiceContext) async -> Bool {
    do throws(StorageFailure) { return try await context.storage.uafOperation(session)?.isOpen == true } catch
    {
      return true
    }
  }

  private static func picture(of text: String) -> (DispatchResult, String?) {
    do throws(QRFailure) {
      return (.dispatched, Base64.encode(try QRCode(text).png()))
    } catch { return (.dispatchError, nil) }
  }

  // MARK: Redeeming

  /// Redeems a token: returns its request, once.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - operation: The operation that the path is for.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: The request.
  func redeem(_ token: String, for operation: UAFOperation) async throws -> String {
    let digest = Self.digest(of: token)
    let found = try await context.storage.uafOperation(tokenDigest: digest)
    guard let session = found, session.operation == operation.rawValue else {
      throw UAFStatusFailure(.notFound, "there is no such token for this operation")
    }
    let now = context.clock.now
    guard !session.hasEndedWithTransaction else { throw UAFStatusFailure.transactionEnded }
    guard !session.hasEndedAsForbidden else { throw UAFStatusFailure.operationForbidden }
    guard session.state == .tokenCreated || session.request == nil else {
      throw UAFStatusFailure(.requestInvalid, "the token was already redeemed")
    }
    guard session.state == .tokenCreated, let end = session.tokenExpires, end > now else {
      _ = try await context.settled(session)
      throw UAFStatusFailure(.timeout, "the token has expired")
    }
    let order = try await order(of: session, operation)
    let request = try await requests.request(for: order, session: session.id)
    let event = context.audit(by: .anyone)(.uafTokenRedeemed(session: session.id, user: session.user))
    let isFirst = try await context.storage.redeemUAFToken(
      digest, request: request, at: now, until: now + setup.settings.requestLifetime, audit: event)
    guard isFirst else {
      let ended = try await context.storage.uafOperation(tokenDigest: digest)
      guard ended?.hasEndedWithTransaction != true else { throw UAFStatusFailure.transactionEnded }
      throw UAFStatusFailure(.requestInvalid, "the token was already redeemed")
    }
    if operation == .deregistration, let user = order.user {
      try await keys.deregister(order.context.targets, of: user, session: session.id, by: nil)
    }
    return String(decoding: request, as: UTF8.self)
  }

  /// Restores the order from which the token was created.
  private func order(
    of session: UAFOperationRecord, _ operation: UAFOperation
  ) async throws -> UAFRequests.Order {
    let user = session.user
    var transaction: TransactionRecord?
    if let id = session.transaction {
      transaction = try await context.storage.transaction(id)
    }
    return UAFRequests.Order(
      operation: operation, context: try UAFContext(session.context, for: operation, isTrusted: true),
      user: user,
      transaction: transaction)
  }

  private static func digest(of token: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(token.utf8))
  }

  /// A random UUID (RFC 9562 section 5.4): 122 random bits.
  private static func uuid(_ random: [UInt8]) -> String {
    var bytes = random
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Hex.encode(bytes)
    var groups: [Substring] = []
    var rest = digits[...]
    for count in [8, 4, 4, 4, 12] {
      groups.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return groups.joined(separator: "-")
  }
}
