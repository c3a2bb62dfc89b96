import SignetCrypto
import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem

/// The endpoints for dispatch targets, for relying parties, and for a device's own data.
extension UAFEndpoints {
  var deviceRoutes: [Route] {
    [false, true].flatMap { hasSlash in
      [
        API.uafAddTarget(hasSlash).answered { [targets] call in
          let target = try await targets.add(call.input, by: call.caller)
          return MadeUAFTarget(id: target.id, extId: target.id)
        },
        API.uafListTargets(hasSlash).answered { [targets] call in
          let user = call.input.username
          guard call.caller.mayManage(user) else { throw UAFWebFailure.unauthorized }
          return UAFDispatchTargetList(
            dispatchTargets: try await targets.list(user).map { try targets.description(of: $0) })
        },
      ]
    } + [
      API.uafChangeTarget.answered { [targets] call in try await targets.change(call.caller) },
      API.uafChangeDevice.answered { [targets] call in try await targets.change(call.caller) },
      API.uafRemoveTarget.answered { [targets] call in
        let target = try await targets.target(call.id())
        guard call.caller.mayRemove(target, of: target.user) else {
          throw UAFWebFailure.unauthorized
        }
        try await targets.remove(call.id(), by: call.caller)
      },
      API.uafDeviceCredentials.answered { [self] call in
        try await signed(try await devices.credentials(call.caller, on: call[.device]))
      },
      API.uafDeviceOperations.answered(waiting: { [self] call, responder in
        try await waiting(call, responder)
      }),
      API.uafRemoveDevice.answered { [devices] call in
        try await devices.remove(call.caller, call[.device])
      },
    ]
  }

  /// Answers with the operations that wait for a device.
  ///
  /// If the device knows the list already, the request may wait for a change.
  private func waiting(_ call: Call<UAFDevices.Signed, Void>, _ responder: Responder) async throws {
    let (signed, device, request) = (call.caller, call[.device], call.request)
    let entityTag = request.headers["If-None-Match"]
    let present = try await devices.waiting(signed, on: device)
    guard let entityTag, let wait = request.preferredWait, entityTag == UAFDevices.tag(of: present) else {
      return responder.answer(try await answer(present))
    }
    // The wait ends when the first token expires, so that the answer reports it.
    let next = present.compactMap(\.tokenExpires).min() ?? .max
    let seconds = min(wait, max(next - context.clock.now, 1))
    let waiting = WaitingRequest(
      of: "uaf:\(signed.target.id)", for: signed.target.user, in: watch,
      until: context.elapsed() + .seconds(seconds), responder,
      news: { await news(signed, on: device, beyond: entityTag) },
      nothingNew: { ServerResponse(status: 304, headers: ["ETag": entityTag, "Cache-Control": "no-store"]) })
    await waiting.begin(from: request.remoteAddress)
  }

  /// Returns an answer if the list differs from the one that the device knows, or if reading it failed.
  private func news(
    _ signed: UAFDevices.Signed, on device: String, beyond entityTag: String
  ) async -> ServerResponse? {
    do {
      // Throws if the target was removed in the meantime, which ends the wait.
      _ = try await targets.target(signed.target.id)
      let present = try await devices.waiting(signed, on: device)
      return UAFDevices.tag(of: present) == entityTag ? nil : try await answer(present)
    } catch { return Self.answer(to: error, context) }
  }

  /// Returns the list with the entity tag of the same read.
  private func answer(_ present: [UAFOperationRecord]) async throws -> ServerResponse {
    var response = try await self.signed(try devices.pending(present))
    response.headers["ETag"] = UAFDevices.tag(of: present)
    return response
  }

  /// Returns a device's own data as a JWS signed by the server.
  private func signed(_ object: JSONObject) async throws -> ServerResponse {
    do {
      let key = try await SigningKeyService(context).current()
      let text = try JWS.sign(object.bytes, with: SigningKey(key, keyID: key.publicKey.thumbprint))
      return .bytes(Array(text.utf8), type: "\(Self.jose);charset=UTF-8")
    } catch {
      context.log.sampledError("uaf.failed", ["cause": "\(error)"])
      throw UAFWebFailure(500, "the answer can't be signed")
    }
  }
}

extension API {
  private static let targets = "/token/dispatch/targets"

  static func uafAddTarget(_ hasSlash: Bool) -> Endpoint<UAFCaller, NewUAFTarget, MadeUAFTarget> {
    Endpoint(
      .post, targets + (hasSlash ? "/" : ""), .grant, "uafAddTarget" + (hasSlash ? "WithSlash" : ""),
      "Add a device of a user", in: .uaf, by: .uafManager, takes: .uafJSON(NewUAFTarget.self),
      answers: .created(MadeUAFTarget.self, "The device is added."), or: [.uafForbidden, .uafUnprocessable],
      below: .uaf, .uaf)
  }

  static func uafListTargets(_ hasSlash: Bool) -> Endpoint<UAFCaller, UAFNameQuery, UAFDispatchTargetList> {
    Endpoint(
      .get, targets + (hasSlash ? "/" : ""), .read, "uafListTargets" + (hasSlash ? "WithSlash" : ""),
      "List the devices of a user", in: .uaf, by: .uafManager, takes: .query(UAFNameQuery.self),
      answers: .json(UAFDispatchTargetList.self, "Oldest first."), or: [.uafForbidden],
      below: .uaf, .uaf)
  }

  static let uafChangeTarget = Endpoint(
    .patch, "\(targets)/{id}", .grant, "uafChangeTarget",
    "Change a device, by a request that the device signed", in: .uaf,
    by: .uafTargetBody, takes: .uafSigned, answers: .uafDone,
    or: [.uafForbidden, .uafUnknown, .uafUnprocessable], below: .uaf, .uaf)
  static let uafRemoveTarget = Endpoint(
    .delete, "\(targets)/{id}", .refuse, "uafRemoveTarget", "Remove a device", in: .uaf,
    by: .uafOfTarget, answers: .uafDone, or: [.uafForbidden, .uafUnknown], below: .uaf, .uaf)
  static let uafDeviceCredentials = Endpoint(
    .get, "/devices/credentials/{device}", .read, "uafDeviceCredentials",
    "Get the server's data about a device", in: .uaf, by: .uafDevice,
    takes: .uafNothing(accepted: UAFEndpoints.jose), answers: .uafSigned, or: [.uafUnknown, .uafAccept],
    below: .uaf, .uaf)
  static let uafDeviceOperations = Endpoint(
    .get, "/devices/oob-operations/{device}", .read, "uafDeviceOperations",
    "List the operations that wait for a device",
    details: "docs/protocol.md section 12.3", in: .uaf, by: .uafDevice,
    takes: .uafNothing(accepted: UAFEndpoints.jose, mayWait: true),
    answers: .changingList("A compact JWS by the server's key."),
    or: [.uafUnknown, .uafAccept], below: .uaf, .uaf)
  static let uafChangeDevice = Endpoint(
    .patch, "/devices/{device}", .grant, "uafChangeDevice",
    "Change a device, by a request that the device signed",
    in: .uaf, by: .uafDeviceBody, takes: .uafSigned, answers: .uafDone,
    or: [.uafForbidden, .uafUnknown, .uafUnprocessable], below: .uaf, .uaf)
  static let uafRemoveDevice = Endpoint(
    .delete, "/devices/{device}", .refuse, "uafRemoveDevice",
    "Remove a device, and the keys that were registered on it", in: .uaf, by: .uafDevice,
    answers: .uafDone, or: [.uafUnknown], below: .uaf, .uaf)
}
