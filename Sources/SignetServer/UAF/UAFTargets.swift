import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetPush
import SignetStorage
import SignetSystem
import SignetUAF

/// The devices that tokens are sent to, and the changes that a device makes with its target's key.
struct UAFTargets: Sendable {
  private let context: ServiceContext
  private let settings: UAFSettings

  init(_ context: ServiceContext, _ settings: UAFSettings) {
    (self.context, self.settings) = (context, settings)
  }

  // MARK: Adding

  /// Adds a target.
  ///
  /// - Parameters:
  ///   - body: The new target.
  ///   - caller: The verified caller.
  /// - Throws: ``UAFWebFailure``.
  /// - Returns: The target.
  func add(_ body: NewUAFTarget, by caller: UAFCaller) async throws -> UAFTargetRecord {
    let user: UserID
    do throws(WireFailure) { user = try UserID(body.username) } catch {
      throw UAFWebFailure(400, "username: \(error)")
    }
    guard caller.mayManage(user) else { throw UAFWebFailure.unauthorized }
    try Self.check(body.name, "name", 1...256)
    if let device = body.deviceId, !Self.isDevice(device) { throw UAFWebFailure(400, Self.deviceRule) }
    if let target = body.target { try Self.check(target, "target", 0...4_096) }
    try checkDispatcher(body.dispatcher)
    let id = ID<UAFTargetRecord>(random: context.random)
    let record = UAFTargetRecord(
      id: id, user: user, device: body.deviceId, name: body.name, dispatcher: body.dispatcher,
      sealedTarget: try body.target.flatMap { text in try seal(text, of: id) },
      signatureKey: try Self.key(body.signatureKey, "signatureKey"),
      encryptionKey: try body.encryptionKey.map { try Self.key($0, "encryptionKey") },
      created: context.clock.now)
    let event = context.audit(by: caller.actor)(.uafTargetAdded(user: user, target: id))
    let isAdded: Bool
    do throws(StorageFailure) {
      isAdded = try await context.storage.addUAFTarget(
        record, by: caller.basis, limit: Self.limit, audit: event)
    } catch {
      switch error {
      case .unknown: throw UAFWebFailure(403, "there is no such user", .userUnknown)
      case .exists: throw Self.nameTaken
      default: throw error
      }
    }
    guard isAdded else {
      throw UAFWebFailure(422, "the user has \(Self.limit) devices; remove one", .targetsTooMany)
    }
    return record
  }

  /// The largest number of devices for each user.
  private static let limit = 64

  private static let nameTaken = UAFWebFailure(422, "the user has another device of this name", .nameTaken)
  static let unknown = UAFWebFailure(404, "there is no such dispatch target", .targetUnknown)

  private static func check(
    _ text: String, _ member: String, _ counts: ClosedRange<Int>
  ) throws {
    guard isFit(text, counts) else {
      throw UAFWebFailure(400, "\(member) has \(counts.lowerBound) to \(counts.upperBound) bytes")
    }
  }

  private static func isFit(_ text: String, _ counts: ClosedRange<Int>) -> Bool {
    counts.contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
  }

  /// Returns the device on which a client says, in the context of its response, that it runs.
  static func device(in context: String?) throws(UAFStatusFailure) -> String? {
    guard let context else { return nil }
    let device: String?
    do throws(JSONFailure) {
      device = try JSONObject(parsing: Array(context.utf8)).optionalString("deviceId")
    } catch { throw UAFStatusFailure(.badRequest, "context: \(error)") }
    guard device.map(isDevice) ?? true else { throw UAFStatusFailure(.badRequest, deviceRule) }
    return device
  }

  /// Returns true if a text is a valid device name, which must also be a valid path segment.
  private static func isDevice(_ text: String) -> Bool {
    isFit(text, 1...128) && PercentEncoding.isSegment(text)
  }

  private static let deviceRule = "deviceId has 1 to 128 bytes, and is not . or .."

  private func checkDispatcher(_ name: String?) throws {
    guard let name else { return }
    guard let dispatcher = UAFTokens.Dispatcher(rawValue: name),
      dispatcher.service.map(context.push.delivery.services.contains) ?? true
    else { throw UAFWebFailure(422, "the dispatcher is not set up", .dispatcherUnavailable) }
  }

  private func seal(_ target: String, of id: ID<UAFTargetRecord>) throws -> [UInt8]? {
    guard !target.isEmpty else { return nil }
    return try context.masterKey.seal(SecretBytes(copying: Array(target.utf8)), for: .uafTarget(id: id))
  }

  /// Returns a public key on P-256 from a JWK as text: its X9.63 form.
  static func key(_ text: String, _ member: String) throws -> [UInt8] {
    let refusal = UAFWebFailure(400, "\(member) is not the JWK of a P-256 public key")
    let jwk: JWK
    do throws(JOSEFailure) { jwk = try JWK(parsing: Array(text.utf8)) } catch { throw refusal }
    guard case .p256(let key, nil) = jwk.material else { throw refusal }
    return key.x963Representation
  }

  // MARK: Changing

  /// Changes a target by a request that its device has signed.
  func change(_ signed: UAFDevices.Signed) async throws {
    let id = signed.target.id
    let (name, dispatcher, target) = try reading(
      (
        signed.claims.optionalString("name"), signed.claims.optionalString("dispatcher"),
        signed.claims.optionalString("target")
      ))
    if let name { try Self.check(name, "name", 1...256) }
    if let target { try Self.check(target, "target", 0...4_096) }
    try checkDispatcher(dispatcher)
    let sealed = try target.map { text in try seal(text, of: id) ?? [] }
    let event = context.audit(by: .target(id))(.uafTargetChanged(target: id))
    let change = UAFTargetChange(name: name, dispatcher: dispatcher, sealedTarget: sealed)
    do {
      guard try await context.storage.changeUAFTarget(id, change, audit: event) else { throw Self.unknown }
    } catch StorageFailure.exists { throw Self.nameTaken } catch StorageFailure.unknown { throw Self.unknown }
  }

  func remove(_ id: ID<UAFTargetRecord>, by caller: UAFCaller) async throws {
    let event = context.audit(by: caller.actor)(.uafTargetRemoved(target: id))
    guard try await context.storage.removeUAFTarget(id, by: caller.basis, audit: event) else {
      throw Self.unknown
    }
  }

  func target(_ id: ID<UAFTargetRecord>) async throws -> UAFTargetRecord {
    guard let found = try await context.storage.uafTarget(id) else {
      throw Self.unknown
    }
    return found
  }

  func list(_ user: UserID) async throws -> [UAFTargetRecord] {
    try await context.storage.uafTargets(user: user)
  }

  /// Returns a target with its address, for callers that may read it.
  func description(of target: UAFTargetRecord) throws -> UAFDispatchTargetList.Target {
    UAFDispatchTargetList.Target(
      id: target.id, extId: target.id, username: target.user.text, name: target.name,
      deviceId: target.device, dispatcher: target.dispatcher, target: try address(of: target))
  }

  private func address(of target: UAFTargetRecord) throws -> String? {
    guard let sealed = target.sealedTarget else { return nil }
    let opened = try context.masterKey.open(sealed, for: .uafTarget(id: target.id))
    return String(decoding: opened.insecureCopy(), as: UTF8.self)
  }

  // MARK: Pushing

  /// Returns true if a device polls: it has an encryption key, and neither an address nor another dispatcher.
  func isPolling(_ target: UAFTargetRecord) -> Bool {
    let (live, hasDevice) = (UAFTokens.Dispatcher.live.rawValue, target.device != nil)
    return hasDevice && target.encryptionKey != nil && target.sealedTarget == nil
      && target.dispatcher ?? live == live
  }

  /// Returns the address for a dispatcher; `nil` if it may not deliver there, or could not encrypt for the device.
  func address(of target: UAFTargetRecord, by dispatcher: UAFTokens.Dispatcher) -> PushTarget? {
    guard target.encryptionKey != nil, let service = dispatcher.service else { return nil }
    do {
      guard let token = try address(of: target) else { return nil }
      let address: PushTarget = service == .webhook ? .webhook(address: token) : .fcm(token: token)
      return context.push.delivery.mayCarry(address) ? address : nil
    } catch {
      context.log.error("uaf.failed", ["target": target.id, "cause": "the address cannot be read"])
      return nil
    }
  }

  /// Delivers a payload through a push service or the operator's gateway.
  ///
  /// If the service no longer knows the address, the server deletes it from the target. Delivery is tried once, or
  /// repeatedly while `shouldRetry` returns true.
  func push(
    _ payload: UAFTokens.Payload, of session: UAFOperationRecord, to target: UAFTargetRecord,
    by dispatcher: UAFTokens.Dispatcher, while shouldRetry: (@Sendable () async -> Bool)? = nil
  ) async -> UAFTokens.DispatchResult {
    let token: String?
    do { token = try address(of: target) } catch {
      context.log.error("uaf.failed", ["cause": "\(error)"])
      return .internalError
    }
    guard let token else { return .dispatchTargetNotFound }
    // The push service must not read the payload.
    guard let envelope = payload.encrypted else { return .dispatchError }
    let message = PushMessage(
      envelope: envelope, topic: String(session.id.text.prefix(32)),
      expires: session.tokenExpires ?? session.expires, data: payload.members)
    let address: PushTarget = dispatcher == .webhook ? .webhook(address: token) : .fcm(token: token)
    let delivery = context.push.delivery
    let outcome =
      if let shouldRetry {
        await delivery.deliver(message, to: address, while: shouldRetry)
      } else {
        await delivery.deliverOnce(message, to: address)
      }
    switch outcome {
    case .accepted: return .dispatched
    case .targetGone:
      let event = context.audit(by: .server)(.uafTargetExpired(target: target.id))
      do throws(StorageFailure) {
        _ = try await context.storage.changeUAFTarget(
          target.id, UAFTargetChange(sealedTarget: []), audit: event)
      } catch { context.log.error("storage.failed", ["cause": error.description]) }
      return .dispatchTargetExpired
    case .expired: return .dispatchError
    case .failed(let failure):
      context.log.error("push.failed", ["target": target.id, "cause": failure.description])
      return .dispatchError
    }
  }
}
