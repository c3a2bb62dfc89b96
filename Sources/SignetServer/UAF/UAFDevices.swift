import SignetCrypto
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem

/// Requests that a device signs with its target's key: reading the server's data about it, and removing it.
struct UAFDevices: Sendable {
  private let context: ServiceContext
  private let settings: UAFSettings
  private let targets: UAFTargets

  init(_ context: ServiceContext, _ settings: UAFSettings, _ targets: UAFTargets) {
    self.context = context
    self.settings = settings
    self.targets = targets
  }

  // MARK: Signed requests

  /// A request whose JWS verified with the key of a target.
  struct Signed: Sendable {
    let target: UAFTargetRecord
    let claims: JSONObject
  }

  /// Verifies a JWS of a device and claims its request id, so that a replay is rejected.
  ///
  /// - Parameters:
  ///   - text: The compact JWS.
  ///   - sent: The HTTP request that carried it.
  ///   - isBody: True if the JWS is the body of that request.
  /// - Throws: ``UAFWebFailure``; a clock difference has its own code.
  /// - Returns: The target whose key signed, and the claims.
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
    // Rounds down to whole seconds, also before 1970.
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
    guard isFirst else { throw UAFWebFailure(401, "the request was sent before", .requestReplayed) }
    return Signed(target: target, claims: claims)
  }

  /// Compares the claims `method`, `path` and `body` with the HTTP request; clients of other products omit them.
  static func check(
    _ claims: JSONObject, are sent: ServerRequest, isBody: Bool
  ) throws {
    let (method, path, body) = try reading(
      (
        claims.optionalString("method"), claims.optionalString("path"), claims.optionalString("body")
      ))
    let digest = Base64URL.encode(HashFunction.sha256.digest(of: isBody ? [] : sent.body))
    guard method.map({ $0.hasSameBytes(as: sent.method) }) ?? true,
      path.map({ $0.hasSameBytes(as: sent.path.raw) }) ?? true,
      body.map({ $0.hasSameBytes(as: digest) }) ?? true
    else { throw UAFWebFailure(401, "the JWS is for another request", .otherRequest) }
  }

  /// Verifies a JWS of a device for the requested target.
  func signed(
    _ text: String?, with sent: ServerRequest, isBody: Bool = false, for id: ID<UAFTargetRecord>
  ) async throws -> Signed {
    let signed = try await signed(text, with: sent, isBody: isBody)
    guard signed.target.id == id else {
      throw UAFWebFailure(401, "the JWS is of another dispatch target", .notKeyOwner)
    }
    return signed
  }

  /// Verifies a JWS of a device for the requested device.
  func signed(
    _ text: String?, with sent: ServerRequest, isBody: Bool = false, forDevice device: String
  ) async throws -> Signed {
    let signed = try await signed(text, with: sent, isBody: isBody)
    guard let signingDevice = signed.target.device, signingDevice.hasSameBytes(as: device) else {
      throw UAFWebFailure(401, "the JWS is of another device", .notKeyOwner)
    }
    return signed
  }

  // MARK: Data of the device

  /// Returns the targets of the signer's user on a device, with the keys registered on it.
  func credentials(_ signed: Signed, on device: String) async throws -> JSONObject {
    let keys = try await context.storage.uafCredentials(user: signed.target.user)
      .filter { $0.state == .active && $0.device.map { $0.hasSameBytes(as: device) } ?? false }
    let credentials = keys.map { key -> JSONValue in
      ["aaid": .string(key.aaid), "keyId": .string(Base64URL.encode(key.keyID))]
    }
    var list: [JSONValue] = []
    for target in try await userTargets(signed, on: device) {
      var object = try targets.description(of: target).json
      object["credentials"] = .array(credentials)
      list.append(.object(object))
    }
    return ["dispatchTargets": .array(list)]
  }

  /// Returns the operations whose tokens wait for a device.
  func waiting(_ signed: Signed, on device: String) async throws -> [UAFOperationRecord] {
    var found: [UAFOperationRecord] = []
    for target in try await userTargets(signed, on: device) {
      found += try await context.storage.pendingUAFOperations(target: target.id, at: context.clock.now)
    }
    return found
  }

  /// Returns the entity tag of a list of waiting operations; it changes whenever the list changes.
  static func tag(of waiting: [UAFOperationRecord]) -> String {
    let ids = waiting.map(\.id.text).sorted()
    let digest = HashFunction.sha256.digest(of: Array(ids.joined(separator: " ").utf8))
    return "\"\(Base64URL.encode(Array(digest.prefix(12))))\""
  }

  /// Returns the tokens that wait for a device, newest first.
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

  /// Removes the targets of the signer's user on a device, and the keys registered on it.
  func remove(_ signed: Signed, _ device: String) async throws {
    let user = signed.target.user
    let event = context.audit(by: .target(signed.target.id))(
      .uafDeviceRemoved(user: user, device: device))
    _ = try await context.storage.removeUAFDevice(device, of: user, audit: event)
  }

  /// Returns the targets of a device that belong to the signer's user; other users of the device have their own targets.
  private func userTargets(_ signed: Signed, on device: String) async throws -> [UAFTargetRecord] {
    try await context.storage.uafTargets(device: device)
      .filter { $0.user == signed.target.user }
  }
}
