import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem

extension API {
  static let startActivation = Endpoint(
    .post, "/activation/start", .grant, "startActivation", "Begin an activation",
    details: "docs/protocol.md section 3.1", in: .activation, by: .none,
    takes: .bytes(
      describedBy: .activationStart,
      example: [
        "version": 1, "user": "alice", "nonce": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      ]),
    answers: .bytes(describedBy: .startAnswer, "An offer, whether or not the user exists."))
  static let finishActivation = Endpoint(
    .post, "/activation/finish", .grant, "finishActivation", "Prove the invite, and send the public keys",
    details:
      "docs/protocol.md section 3.3. A wrong invite and an unknown user have the same answer, 403. A void handshake is 409: start again.",
    in: .activation, by: .none, takes: .bytes(describedBy: .activationFinish),
    answers: .bytes(describedBy: .signedMessage, "The receipt."), or: [.forbidden, .conflict])
  static let confirmActivation = Endpoint(
    .post, "/activation/confirm", .grant, "confirmActivation", "Confirm a container, which becomes active",
    details:
      "docs/protocol.md section 3.3. The request is signed by the session key of the new container.",
    in: .activation, by: .device(in: [.pending, .active]),
    takes: .bytes(describedBy: .activationConfirm, example: [:]),
    answers: .status("active", "The container is active."))
  static let startRenewal = Endpoint(
    .post, "/renewal/start", .grant, "startRenewal", "Begin a renewal",
    details: "docs/protocol.md section 3.5", in: .renewal, by: .device,
    takes: .bytes(describedBy: .renewalStart),
    answers: .bytes(describedBy: .startAnswer, "An offer."))
  static let finishRenewal = Endpoint(
    .post, "/renewal/finish", .grant, "finishRenewal", "Send the new public keys",
    details: "docs/protocol.md section 3.5", in: .renewal, by: .device,
    takes: .bytes(describedBy: .renewalFinish),
    answers: .bytes(describedBy: .signedMessage, "The receipt."), or: [.forbidden, .conflict])
  static let endContainer = Endpoint(
    .post, "/device/end", .attest, "endContainer", "Report that a container was deleted",
    details: "docs/protocol.md section 3.6. The notice is signed, the request is not.", in: .device,
    by: .none, takes: .bytes(describedBy: .endNotice), answers: .status("ended", "The container is revoked."),
    or: [.unauthorized, .forbidden])
  static let listPending = Endpoint(
    .get, "/device/transactions", .read, "listPending", "List the transactions that wait for a decision",
    details: "docs/protocol.md section 5 and 5.6", in: .deviceTransactions, by: .device,
    takes: .waiting,
    answers: .changingList("A JWE to the device's encryption key."))
  static let showPending = Endpoint(
    .get, "/device/transactions/{id}", .read, "showPending", "Get a transaction, including one for anybody",
    details: "docs/protocol.md section 5.7", in: .deviceTransactions, by: .device,
    answers: .jose("A JWE to the device's encryption key."), or: [.unknown, .conflict, .gone])
  // The signed decision may also deny or report, which has the effect `refuse`; the path is the same.
  static let decide = Endpoint(
    .post, "/device/transactions/{id}/decision", .grant, "decide", "Accept, deny or report",
    details: "docs/protocol.md section 5.2", in: .deviceTransactions, by: .signer,
    takes: .json(SignedDecision.self),
    answers: .response(DecidedTransaction.described, "The decision is recorded."),
    or: [.forbidden, .unknown, .conflict, .gone])
  static let cancel = Endpoint(
    .post, "/device/transactions/{id}/cancel", .refuse, "cancel", "Cancel",
    details: "docs/protocol.md section 5.3", in: .deviceTransactions, by: .deviceGrantingNothing,
    takes: .bytes(describedBy: .cancellation, example: ["reason": "userCancel"]),
    answers: .status("cancelled", "The transaction is cancelled."), or: [.unknown, .conflict, .gone])
  static let initiate = Endpoint(
    .post, "/device/initiated", .grant, "initiate", "Send a text that the user signed unasked",
    details: "docs/protocol.md section 5.8", in: .deviceTransactions, by: .device,
    takes: .json(SignedDecision.self), answers: .idWithStatus("accepted", "The signed text is stored."),
    or: [.forbidden, .unknown, .conflict, .gone, .contentRefused, .tooMany])
  static let listPushTargets = Endpoint(
    .get, "/device/push-targets", .read, "listPushTargets", "List the push targets",
    details: "docs/protocol.md section 10", in: .pushes, by: .device,
    answers: .object(describedBy: .pushTargetList, "The targets, oldest first."))
  static let addPushTarget = Endpoint(
    .post, "/device/push-targets", .grant, "addPushTarget", "Add a push target", in: .pushes,
    by: .device,
    takes: .bytes(
      describedBy: .newPushTarget,
      example: ["target": ["service": "webhook", "address": "device-1"]]),
    answers: .created(NamedByID.self, "The target is added."), or: [.conflict, .contentRefused])
  static let changePushTarget = Endpoint(
    .patch, "/device/push-targets/{id}", .grant, "changePushTarget", "Change a push target",
    in: .pushes, by: .device,
    takes: .bytes(describedBy: .changedPushTarget, example: ["name": "phone"]),
    answers: .json(NamedByID.self, "The target is changed."), or: [.unknown, .conflict, .contentRefused])
  static let removePushTarget = Endpoint(
    .delete, "/device/push-targets/{id}", .refuse, "removePushTarget", "Remove a push target",
    in: .pushes, by: .deviceGrantingNothing, answers: .json(NamedByID.self, "The target is removed."),
    or: [.unknown])
}

/// The endpoints for devices: activation, transactions and push targets.
struct DeviceEndpoints: Sendable {
  let activations: ActivationService
  let renewals: RenewalService
  let ends: EndService
  let transactions: TransactionService
  let authentication: DeviceAuthentication
  let targets: PushTargetService
  let watch: TransactionWatch
  let context: ServiceContext

  var routes: [Route] { activationRoutes + transactionRoutes + targetRoutes }

  private var activationRoutes: [Route] {
    [
      API.startActivation.answered { [activations] call in try await activations.start(call.input).bytes },
      API.finishActivation.answered { [activations] call in try await activations.finish(call.input) },
      API.confirmActivation.answered { [activations] call in
        try await activations.confirm(call.caller.container, call.input)
      },
      API.startRenewal.answered { [renewals] call in
        try renewals.start(call.input, for: call.caller.container).bytes
      },
      API.finishRenewal.answered { [renewals] call in
        try await renewals.finish(call.input, for: call.caller.container)
      },
      API.endContainer.answered { [ends] call in try await ends.end(call.input) },
    ]
  }

  private var transactionRoutes: [Route] {
    [
      // A device that knows the list may wait for a change (`Prefer: wait`, RFC 7240 section 4.3).
      API.listPending.answered(waiting: { [self] call, responder in try await pending(call, responder) }),
      API.showPending.answered { [transactions] call in
        try await transactions.one(call.id(), for: call.caller.container, request: call.caller.request)
      },
      // Runs on the thread that received the request; the committing thread sends the answer.
      API.decide.answered(directly: { [self] call, responder, restart in
        try decide(call, responder, restart)
      }),
      API.cancel.answered { [transactions] call in
        try await transactions.cancel(call.input, id: call.id(), by: call.caller.container)
      },
      API.initiate.answered { [transactions] call in
        try await transactions.initiate(call.input.decision, by: call.caller.container)
      },
    ]
  }

  private var targetRoutes: [Route] {
    [
      API.listPushTargets.answered { [targets] call in try await targets.list(for: call.caller.container).json
      },
      API.addPushTarget.answered { [targets] call in
        NamedByID(try await targets.add(call.input, for: call.caller.container))
      },
      API.changePushTarget.answered { [targets] call in
        let id: PushTargetID = call.id()
        try await targets.change(id, to: call.input, for: call.caller.container)
        return NamedByID(id)
      },
      API.removePushTarget.answered { [targets] call in
        let id: PushTargetID = call.id()
        try await targets.remove(id, of: call.caller.container)
        return NamedByID(id)
      },
    ]
  }

  // MARK: The list of transactions

  private func pending(_ call: Call<DeviceCaller, Void>, _ responder: Responder) async throws {
    let (container, id, request) = (call.caller.container, call.caller.request, call.request)
    let list = try await current(container.id)
    guard let entityTag = request.headers["If-None-Match"], entityTag == list.tag,
      let wait = request.preferredWait
    else { return responder.answer(try await answer(list, to: id)) }
    // The wait ends when the first transaction expires, and not at the server's next sweep.
    let end = list.transactions.map(\.expires).min() ?? .max
    let seconds = min(wait, max(end - context.clock.now, 1))
    let waiting = WaitingRequest(
      of: container.id.text, for: container.user, in: watch, until: context.elapsed() + .seconds(seconds),
      responder,
      news: { await news(of: container.id, to: id, beyond: entityTag) },
      nothingNew: { ServerResponse(status: 304, headers: ["ETag": entityTag, "Cache-Control": "no-store"]) })
    await waiting.begin(from: request.remoteAddress)
  }

  /// Returns an answer if the list differs from the one that the device knows, or if reading it failed.
  private func news(of container: ContainerID, to request: [UInt8], beyond entityTag: String) async
    -> ServerResponse?
  {
    do {
      let list = try await current(container)
      return list.tag == entityTag ? nil : try await answer(list, to: request)
    } catch { return Dialect.signet.response(to: error, context) }
  }

  private func answer(_ list: WaitingTransactions, to request: [UInt8]) async throws -> ServerResponse {
    let jwe = try await transactions.sealed(list, request: request)
    var response = ServerResponse.bytes(Array(jwe.utf8), type: "application/jose")
    response.headers["ETag"] = list.tag
    return response
  }

  /// Returns the current list of a container.
  ///
  /// While its device waits, the container may be revoked or asked to renew, and its user may be suspended.
  private func current(_ container: ContainerID) async throws -> WaitingTransactions {
    guard let list = try await transactions.waiting(for: container) else {
      throw Problem(.containerUnknown, "Activate the device again.")
    }
    return list
  }

  // MARK: Decisions

  private func decide(
    _ call: Call<DeviceAuthentication.Signed, SignedDecision>, _ responder: Responder,
    _ restart: (@Sendable () -> Void)?
  ) throws {
    let signed = call.caller
    let attempt = DecisionAttempt(
      transaction: call.id(), by: signed.signer.record, request: signed.id, expires: signed.expires)
    try transactions.decide(
      call.input.decision, attempt, signedWith: signed.signer.signing, showing: signed.signer.evidence
    ).then { result in
      guard let restart, case .failure(let error) = result,
        error as? Problem == DeviceAuthentication.unknown
      else { return responder.answer(answer(result)) }
      // The container has changed since it was cached; the stored one decides.
      authentication.forget(signed.signer)
      restart()
    }
  }

  private func answer(_ result: Result<DecisionStatus, any Error>) -> ServerResponse {
    switch result {
    case .success(let status): Self.decidedResponses[status] ?? .json(DecidedTransaction(status: status).json)
    case .failure(let error): Dialect.signet.response(to: error, context)
    }
  }

  private static let decidedResponses = Dictionary(
    uniqueKeysWithValues: DecisionStatus.allCases.map {
      ($0, ServerResponse.json(DecidedTransaction(status: $0).json).preparedForSending())
    })
}
