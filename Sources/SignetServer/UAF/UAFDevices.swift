import SignetCrypto
import SignetHTTP
import SignetJOSE
import SignetJSON
import SignetStorage
import SignetWire

/// What a device asks with the key that it has for a user: what the server knows of it, and changes of that.
struct UAFDevices: Sendable {
  private let context: ServiceContext
  private let settings: UAFSettings
  private let targets: UAFTargets

  init(_ context: ServiceContext, _ settings: UAFSettings, _ targets: UAFTargets) {
    (self.context, self.settings, self.targets) = (context, settings, targets)
  }

  // MARK: What a device signs

  /// A request that the key of a target has signed.
  struct Signed: Sendable {
    let target: UAFTargetRecord
    let claims: JSONObject
  }

  /// Checks a JWS of a device and uses its request's id up.
  ///
  /// - Parameters:
  ///   - text: The compact JWS.
  ///   - sent: The request that it came with.
  ///   - isBody: Whether it is the body of that.
  /// - Throws: ``UAFWebFailure``, with a clock that is off named as such.
  /// - Returns: Whose key signed it, and what it says.
  func signed(
    _ text: String?, with sent: ServerRequest, isBody: Bool = false
  ) async throws -> Signed {
    guard let text, !text.isEmpty else {
      throw UAFWebFailure(401, "the JWS of the device is missing", .unauthorized)
    }
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
    guard let id = ID<UAFTargetRecord>(checking: id) else { throw UAFTargets.unknown }
    let target = try await targets.target(id)
    do {
      let key = try P256.Signing.PublicKey(x963: target.signatureKey)
      _ = try jws.verified(with: VerificationKey(key), allowing: [.es256])
    } catch {
      throw UAFWebFailure(401, "the JWS is not signed by the key of the dispatch target", .signatureInvalid)
    }
    try Self.check(claims, are: sent, isBody: isBody)
    let now = context.clock.now
    // Whole seconds, the earlier one also before 1970.
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000)
    let (difference, isOverflow) = (rest < 0 ? seconds - 1 : seconds).subtractingReportingOverflow(now)
    guard !isOverflow, difference.magnitude <= settings.clockSkew.magnitude else {
      throw UAFWebFailure(
        401, "the clock of the device is more than \(settings.clockSkew) seconds off, or the request is old",
        .clockSkewTooBig)
    }
    let digest = HashFunction.sha256.digest(of: Array(request.utf8))
    let isFirst = try await context.storage.claimID(
      Array(digest.prefix(16)), of: "uaf:\(target.id)",
      expires: now + 2 * settings.clockSkew + 1 + DeviceAuthentication.clockStep)
    guard isFirst else { throw UAFWebFailure(401, "the request was made before", .requestReplayed) }
    return Signed(target: target, claims: claims)
  }

  /// Holds what a device says that it asks against what it asks; other products say nothing of that.
  static func check(
    _ claims: JSONObject, are sent: ServerRequest, isBody: Bool
  ) throws {
    let (method, path, body) = try reading(
      (
        claims.optionalString("method"), claims.optionalString("path"), claims.optionalString("body")
      ))
    let digest = Base64URL.encode(HashFunction.sha256.digest(of: isBody ? [] : sent.body))
    guard method.map({ $0.utf8.elementsEqual(sent.method.utf8) }) ?? true,
      path.map({ $0.utf8.elementsEqual(sent.path.raw.utf8) }) ?? true,
      body.map({ $0.utf8.elementsEqual(digest.utf8) }) ?? true
    else { throw UAFWebFailure(401, "the JWS is for another request", .otherRequest) }
  }

  /// Checks a JWS of a device for the target that is asked for.
  func signed(
    _ text: String?, with sent: ServerRequest, isBody: Bool = false, for id: ID<UAFTargetRecord>
  ) async throws -> Signed {
    let signed = try await signed(text, with: sent, isBody: isBody)
    guard signed.target.id == id else {
      throw UAFWebFailure(401, "the JWS is of another dispatch target", .notKeyOwner)
    }
    return signed
  }

  /// Checks a JWS of a device for the device that is asked for.
  func signed(
    _ text: String?, with sent: ServerRequest, isBody: Bool = false, forDevice device: String
  ) async throws -> Signed {
    let signed = try await signed(text, with: sent, isBody: isBody)
    guard let own = signed.target.device, own.utf8.elementsEqual(device.utf8) else {
      throw UAFWebFailure(401, "the JWS is of another device", .notKeyOwner)
    }
    return signed
  }

  // MARK: What a device sees of itself

  /// What the server knows of the signer's user on a device: its targets, with the keys that were registered on it.
  func credentials(_ signed: Signed, on device: String) async throws -> JSONObject {
    let keys = try await context.storage.uafCredentials(user: signed.target.user)
      .filter { $0.state == .active && $0.device.map { $0.utf8.elementsEqual(device.utf8) } ?? false }
    let credentials = keys.map { key -> JSONValue in
      ["aaid": .string(key.aaid), "keyId": .string(Base64URL.encode(key.keyID))]
    }
    var list: [JSONValue] = []
    for target in try await own(signed, on: device) {
      var object = try targets.description(of: target).json
      object["credentials"] = .array(credentials)
      list.append(.object(object))
    }
    return ["dispatchTargets": .array(list)]
  }

  /// The operations whose tokens wait for a device.
  func waiting(_ signed: Signed, on device: String) async throws -> [UAFOperationRecord] {
    var found: [UAFOperationRecord] = []
    for target in try await own(signed, on: device) {
      found += try await context.storage.pendingUAFOperations(target: target.id, at: context.clock.now)
    }
    return found
  }

  /// The name of a list of what waits for a device: another one whenever another list waits.
  static func tag(of waiting: [UAFOperationRecord]) -> String {
    let ids = waiting.map(\.id.text).sorted()
    let digest = HashFunction.sha256.digest(of: Array(ids.joined(separator: " ").utf8))
    return "\"\(Base64URL.encode(Array(digest.prefix(12))))\""
  }

  /// The tokens that wait for a device, newest first.
  func pending(_ waiting: [UAFOperationRecord]) throws -> JSONObject {
    var list: [(time: Int64, value: JSONValue)] = []
    for session in waiting {
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
            "id": .id(session.id), "creationTimeInEpochMillis": .integer(session.created * 1_000),
            "dispatchChannel": .string(session.dispatcher ?? ""), "payload": .object(payload),
          ]
        ))
    }
    return ["operations": .array(list.sorted { $0.time > $1.time }.map(\.value))]
  }

  /// Forgets a device: the targets of the signer's user on it, and the keys that were registered on it.
  func remove(_ signed: Signed, _ device: String) async throws {
    let user = signed.target.user
    let event = context.audit(by: .target(signed.target.id))(
      .uafDeviceRemoved(user: user, device: device))
    _ = try await context.storage.removeUAFDevice(device, of: user, audit: event)
  }

  /// The targets of a device that belong to the user whose key signed: others on the device have keys of their own.
  private func own(_ signed: Signed, on device: String) async throws -> [UAFTargetRecord] {
    try await context.storage.uafTargets(device: device)
      .filter { $0.user == signed.target.user }
  }
}
