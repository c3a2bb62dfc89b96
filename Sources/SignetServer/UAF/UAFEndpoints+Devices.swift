import SignetCrypto
import SignetHTTP
import SignetJOSE
import SignetJSON
import SignetStorage
import SignetWire

/// Dispatch targets and devices: what relying parties see of them, and what a device sees of itself.
extension UAFEndpoints {
  private static let jose = "application/jose"

  /// Adds their routes.
  func addDevices(to router: inout Router) {
    let prefix = setup.settings.prefix
    for end in ["", "/"] {
      on(&router, "POST", prefix + "/token/dispatch/targets\(end)") { request throws(UAFWebFailure) in
        try await addTarget(request)
      }
      on(&router, "GET", prefix + "/token/dispatch/targets\(end)") { request throws(UAFWebFailure) in
        try await listTargets(request)
      }
    }
    on(&router, "PATCH", prefix + "/token/dispatch/targets/{id}") { request throws(UAFWebFailure) in
      try await changeTarget(request)
    }
    on(&router, "DELETE", prefix + "/token/dispatch/targets/{id}") { request throws(UAFWebFailure) in
      try await removeTarget(request)
    }
    on(&router, "GET", prefix + "/devices/credentials/{device}") { request throws(UAFWebFailure) in
      try await ofDevice(request) { signed, device throws(UAFWebFailure) in
        try await devices.credentials(signed, on: device)
      }
    }
    on(&router, "GET", prefix + "/devices/oob-operations/{device}") { request throws(UAFWebFailure) in
      try await ofDevice(request) { signed, device throws(UAFWebFailure) in
        try await devices.pending(signed, on: device)
      }
    }
    on(&router, "PATCH", prefix + "/devices/{device}") { request throws(UAFWebFailure) in
      try await changeDevice(request)
    }
    on(&router, "DELETE", prefix + "/devices/{device}") { request throws(UAFWebFailure) in
      try await removeDevice(request)
    }
  }

  private func addTarget(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let body = try json(request)
    let caller = try await caller(request)
    let target = try await targets.add(body, by: caller)
    return .json(["id": .string(target.id), "extId": .string(target.id)], status: 201)
  }

  private func listTargets(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let user = try Self.user(named: request.query["username"] ?? "")
    guard try await caller(request).mayManage(user) else { throw .unauthorized }
    var list: [JSONValue] = []
    for target in try await targets.list(user) { list.append(.object(try targets.json(target))) }
    return .json(["dispatchTargets": .array(list)])
  }

  private static func user(named name: String) throws(UAFWebFailure) -> UserID {
    do throws(WireFailure) { return try UserID(name) } catch {
      throw UAFWebFailure(400, "username: \(error)")
    }
  }

  private func changeTarget(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: Self.jose, answered: nil)
    let text = String(decoding: request.body, as: UTF8.self)
    try await targets.change(
      try await devices.signed(text, with: request, isBody: true, for: request.parameters["id"] ?? ""))
    return ServerResponse(status: 204)
  }

  /// By the key of the target, by its user, or by a relying party.
  private func removeTarget(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let id = request.parameters["id"] ?? ""
    if let text = request.headers["Device-Signature"] {
      _ = try await devices.signed(text, with: request, for: id)
      try await targets.remove(id, by: .target(id))
    } else {
      let caller = try await caller(request)
      if case .anyone = caller { throw UAFWebFailure.unauthorized }
      let target = try await targets.target(id)
      guard caller.mayManage(try Self.user(named: target.user)) else { throw UAFWebFailure.unauthorized }
      try await targets.remove(id, by: caller.actor)
    }
    return ServerResponse(status: 204)
  }

  private func changeDevice(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: Self.jose, answered: nil)
    let text = String(decoding: request.body, as: UTF8.self)
    try await targets.change(
      try await devices.signed(
        text, with: request, isBody: true, forDevice: request.parameters["device"] ?? ""))
    return ServerResponse(status: 204)
  }

  private func removeDevice(_ request: ServerRequest) async throws(UAFWebFailure) -> ServerResponse {
    let device = request.parameters["device"] ?? ""
    try await devices.remove(
      try await devices.signed(request.headers["Device-Signature"], with: request, forDevice: device), device)
    return ServerResponse(status: 204)
  }

  /// Answers what a device may see of itself, signed by the server.
  private func ofDevice(
    _ request: ServerRequest,
    _ content: (UAFDevices.Signed, String) async throws(UAFWebFailure) -> JSONObject
  ) async throws(UAFWebFailure) -> ServerResponse {
    try UAFMediaTypes.check(request, sent: nil, answered: Self.jose)
    let device = request.parameters["device"] ?? ""
    let signed = try await devices.signed(
      request.headers["Device-Signature"], with: request, forDevice: device)
    let object = try await content(signed, device)
    do {
      let key = try await SigningKeyService(context).current()
      let text = try JWS.sign(object.bytes, with: SigningKey(key, keyID: key.publicKey.thumbprint))
      return .bytes(Array(text.utf8), type: "\(Self.jose);charset=UTF-8")
    } catch {
      context.log.error("uaf.failed", ["cause": "\(error)"])
      throw UAFWebFailure(500, "the answer can't be signed")
    }
  }
}
