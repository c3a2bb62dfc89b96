import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetPush
import SignetStorage
import SignetWire

/// The devices that tokens are sent to, and what those change themselves with the key that they have for it.
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
  ///   - body: What is asked.
  ///   - caller: Who asks.
  /// - Throws: ``UAFWebFailure``.
  /// - Returns: The target.
  func add(_ body: JSONObject, by caller: UAFCaller) async throws(UAFWebFailure) -> UAFTargetRecord {
    let username = try UAFWebFailure.reading(body.string("username"))
    let user: UserID
    do throws(WireFailure) { user = try UserID(username) } catch {
      throw UAFWebFailure(400, "username: \(error)")
    }
    guard caller.mayManage(user) else { throw .unauthorized }
    let (device, dispatcher, target, name, signatureText, encryptionText) = try UAFWebFailure.reading(
      (
        body.optionalString("deviceId"), body.optionalString("dispatcher"), body.optionalString("target"),
        body.string("name"), body.string("signatureKey"), body.optionalString("encryptionKey")
      ))
    try Self.check(name, "name", 1...256)
    if let device { try Self.check(device, "deviceId", 1...128) }
    if let target { try Self.check(target, "target", 0...4_096) }
    try checkDispatcher(dispatcher)
    let id = ServerMadeID(random: context.random).text
    let record = UAFTargetRecord(
      id: id, user: user.text, device: device, name: name, dispatcher: dispatcher,
      sealedTarget: try target.flatMap { text throws(UAFWebFailure) in try seal(text, of: id) },
      signatureKey: try Self.key(signatureText, "signatureKey"),
      encryptionKey: try encryptionText.map { text throws(UAFWebFailure) in
        try Self.key(text, "encryptionKey")
      }, created: context.clock.now)
    let event = context.audit(by: caller.actor)("uaf.targetAdded", ["user": user.text, "target": id])
    do throws(StorageFailure) { try await context.storage.addUAFTarget(record, audit: event) } catch {
      switch error {
      case .unknown: throw UAFWebFailure(403, "there is no such user")
      case .exists: throw Self.nameTaken
      default: throw UAFWebFailure(context.problem(with: error))
      }
    }
    return record
  }

  private static let nameTaken = UAFWebFailure(422, "the user has another device of this name")

  private static func check(
    _ text: String, _ member: String, _ counts: ClosedRange<Int>
  ) throws(UAFWebFailure) {
    guard counts.contains(text.utf8.count), text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
      throw UAFWebFailure(400, "\(member) has \(counts.lowerBound) to \(counts.upperBound) bytes")
    }
  }

  private func checkDispatcher(_ name: String?) throws(UAFWebFailure) {
    guard let name else { return }
    guard let dispatcher = UAFTokens.Dispatcher(rawValue: name),
      dispatcher != .firebase || context.push.delivery.services.contains(.fcm)
    else { throw UAFWebFailure(422, "the dispatcher is not set up") }
  }

  private func seal(_ target: String, of id: String) throws(UAFWebFailure) -> [UInt8]? {
    guard !target.isEmpty else { return nil }
    do throws(Problem) {
      return try context.computed(
        context.masterKey.seal(SecretBytes(copying: Array(target.utf8)), for: .uafTarget(id: id)))
    } catch { throw UAFWebFailure(error) }
  }

  /// A public key on P-256: a JWK as a text.
  private static func key(_ text: String, _ member: String) throws(UAFWebFailure) -> [UInt8] {
    let refusal = UAFWebFailure(400, "\(member) is no JWK of a public key on P-256")
    let jwk: JWK
    do throws(JOSEFailure) { jwk = try JWK(parsing: Array(text.utf8)) } catch { throw refusal }
    guard case .p256(let key, nil) = jwk.material else { throw refusal }
    return key.x963Representation
  }

  // MARK: What a device signs

  /// A request that the key of a target has signed.
  struct Signed: Sendable {
    let target: UAFTargetRecord
    let claims: JSONObject
  }

  /// Checks a JWS of a device and uses its request's id up.
  ///
  /// - Parameter text: The compact JWS.
  /// - Throws: ``UAFWebFailure``: 401, with a clock that is off named as such.
  /// - Returns: Whose key signed it, and what it says.
  func signed(_ text: String?) async throws(UAFWebFailure) -> Signed {
    guard let text, !text.isEmpty else { throw UAFWebFailure(401, "the JWS is missing") }
    let (jws, claims): (JWS, JSONObject)
    let (id, request, time): (String, String, Int64)
    do {
      jws = try JWS(compact: text)
      claims = try JSONObject(parsing: jws.unverifiedPayload)
      (id, request) = (try claims.string("dispatchTargetId"), try claims.string("requestId"))
      time = try claims.integer("creationTimeInEpochMillis")
    } catch { throw UAFWebFailure(400, "the JWS or its claims can't be read: \(error)") }
    guard (1...64).contains(request.utf8.count) else {
      throw UAFWebFailure(400, "requestId has 1 to 64 characters")
    }
    let found = try await stored(try await context.storage.uafTarget(id))
    guard let target = found else { throw UAFWebFailure(404, "there is no such dispatch target") }
    do {
      let key = try P256.Signing.PublicKey(x963: target.signatureKey)
      _ = try jws.verified(with: VerificationKey(key), allowing: [.es256])
    } catch { throw UAFWebFailure(401, "the JWS is not signed by the key of the dispatch target") }
    let now = context.clock.now
    guard abs(time / 1_000 - now) <= settings.clockSkew else {
      throw UAFWebFailure(401, "clockSkewTooBig: the clock of the device is off, or the request is old")
    }
    let digest = HashFunction.sha256.digest(of: Array(request.utf8))
    let isFirst = try await stored(
      try await context.storage.claimRequest(
        Array(digest.prefix(16)), container: "uaf:\(target.id)",
        expires: now + 2 * settings.clockSkew + 1 + DeviceAuthentication.clockStep))
    guard isFirst else { throw UAFWebFailure(401, "the request was made before") }
    return Signed(target: target, claims: claims)
  }

  /// Changes a target as its device says.
  func change(_ id: String, _ text: String) async throws(UAFWebFailure) {
    let signed = try await signed(text)
    guard signed.target.id == id else { throw UAFWebFailure(401, "the JWS is of another dispatch target") }
    let (name, dispatcher, target) = try UAFWebFailure.reading(
      (
        signed.claims.optionalString("name"), signed.claims.optionalString("dispatcher"),
        signed.claims.optionalString("target")
      ))
    if let name { try Self.check(name, "name", 1...256) }
    if let target { try Self.check(target, "target", 0...4_096) }
    try checkDispatcher(dispatcher)
    let sealed = try target.map { text throws(UAFWebFailure) in try seal(text, of: id) ?? [] }
    let event = context.audit(by: "target:\(id)")("uaf.targetChanged", ["target": id])
    let change = UAFTargetChange(name: name, dispatcher: dispatcher, sealedTarget: sealed)
    do throws(StorageFailure) {
      guard try await context.storage.changeUAFTarget(id, change, audit: event) else { throw .unknown }
    } catch {
      switch error {
      case .exists: throw Self.nameTaken
      case .unknown: throw UAFWebFailure(404, "there is no such dispatch target")
      default: throw UAFWebFailure(context.problem(with: error))
      }
    }
  }

  /// Removes a target.
  func remove(_ id: String, by actor: String) async throws(UAFWebFailure) {
    let event = context.audit(by: actor)("uaf.targetRemoved", ["target": id])
    guard try await stored(try await context.storage.removeUAFTarget(id, audit: event)) else {
      throw UAFWebFailure(404, "there is no such dispatch target")
    }
  }

  func target(_ id: String) async throws(UAFWebFailure) -> UAFTargetRecord {
    guard let found = try await stored(try await context.storage.uafTarget(id)) else {
      throw UAFWebFailure(404, "there is no such dispatch target")
    }
    return found
  }

  /// A user's targets.
  func list(_ user: UserID) async throws(UAFWebFailure) -> [UAFTargetRecord] {
    try await stored(try await context.storage.uafTargets(user: user.text))
  }

  // MARK: What a device sees of itself

  /// The keys of the user of a device, and what the server knows of the device.
  func credentials(of device: String, _ signed: Signed) async throws(UAFWebFailure) -> JSONObject {
    let targets = try await own(device, signed)
    var list: [JSONValue] = []
    for target in targets {
      let keys = try await stored(try await context.storage.uafCredentials(user: target.user))
      var object = try json(target)
      object["credentials"] = .array(
        keys.filter { $0.state == .active }.map { key in
          ["aaid": .string(key.aaid), "keyId": .string(Base64URL.encode(key.keyID))]
        })
      list.append(.object(object))
    }
    return ["dispatchTargets": .array(list)]
  }

  /// The tokens that wait for a device, newest first.
  func pending(of device: String, _ signed: Signed) async throws(UAFWebFailure) -> JSONObject {
    var list: [(time: Int64, value: JSONValue)] = []
    for target in try await own(device, signed) {
      let sessions = try await stored(
        try await context.storage.pendingUAFSessions(target: target.id, at: context.clock.now))
      for session in sessions {
        guard let sealed = session.sealedPayload else { continue }
        let payload: JSONObject
        do {
          let opened = try context.masterKey.open(sealed, for: .uafPayload(session: session.id))
          payload = try JSONObject(parsing: opened.insecureCopy())
        } catch { throw UAFWebFailure(500, "a stored payload can't be read") }
        list.append(
          (
            session.created,
            [
              "creationTimeInEpochMillis": .integer(session.created * 1_000),
              "dispatchChannel": .string(session.dispatcher ?? ""), "payload": .object(payload),
            ]
          ))
      }
    }
    return ["operations": .array(list.sorted { $0.time > $1.time }.map(\.value))]
  }

  /// The targets of a device that belong to the user whose key signed: others on the device have keys of their own.
  private func own(_ device: String, _ signed: Signed) async throws(UAFWebFailure) -> [UAFTargetRecord] {
    guard let own = signed.target.device, own.utf8.elementsEqual(device.utf8) else {
      throw UAFWebFailure(401, "the JWS is of another device")
    }
    return try await stored(try await context.storage.uafTargets(device: device))
      .filter { $0.user.utf8.elementsEqual(signed.target.user.utf8) }
  }

  /// A target as those see it that may.
  func json(_ target: UAFTargetRecord) throws(UAFWebFailure) -> JSONObject {
    var object: JSONObject = [
      "id": .string(target.id), "extId": .string(target.id), "username": .string(target.user),
      "name": .string(target.name),
    ]
    if let device = target.device { object["deviceId"] = .string(device) }
    if let dispatcher = target.dispatcher { object["dispatcher"] = .string(dispatcher) }
    if let text = try address(of: target) { object["target"] = .string(text) }
    return object
  }

  private func address(of target: UAFTargetRecord) throws(UAFWebFailure) -> String? {
    guard let sealed = target.sealedTarget else { return nil }
    do throws(Problem) {
      let opened = try context.computed(context.masterKey.open(sealed, for: .uafTarget(id: target.id)))
      return String(decoding: opened.insecureCopy(), as: UTF8.self)
    } catch { throw UAFWebFailure(error) }
  }

  // MARK: Pushing

  /// Hands a payload to Google's push service; a target that it does not know any more is forgotten.
  func push(
    _ envelope: String, of session: UAFSessionRecord, to target: UAFTargetRecord
  ) async -> UAFTokens.Result {
    let token: String?
    do throws(UAFWebFailure) { token = try address(of: target) } catch { return .internalError }
    guard let token else { return .dispatchTargetNotFound }
    let message = PushMessage(
      envelope: envelope, topic: String(session.id.prefix(32)),
      expires: session.tokenExpires ?? session.expires)
    switch await context.push.delivery.deliverOnce(message, to: .fcm(token: token)) {
    case .taken: return .dispatched
    case .targetGone:
      let event = context.audit(by: "server")("uaf.targetExpired", ["target": target.id])
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

  private func stored<Value>(
    _ call: @autoclosure () async throws(StorageFailure) -> Value
  ) async throws(UAFWebFailure) -> Value {
    do { return try await call() } catch { throw UAFWebFailure(context.problem(with: error)) }
  }
}
