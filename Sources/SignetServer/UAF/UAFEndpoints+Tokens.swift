import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetUAF

/// The endpoints for tokens, which begin an operation on another device, and for the state of an operation.
extension UAFEndpoints {
  var tokenRoutes: [Route] {
    let status = API.uafStatus.answered { [context] call in
      var session: UAFOperationRecord?
      if let id = ID<UAFOperationRecord>(checking: call.input.session) {
        session = try await context.storage.uafOperation(id)
      }
      if let found = session { session = try await context.settled(found) }
      let transaction: TransactionRecord? =
        if let id = session?.transaction { try await context.storage.transaction(id) } else { nil }
      return UAFStatusReport(session, answering: transaction)
    }
    return UAFOperation.allCases.flatMap { operation in
      [false, true].flatMap { isOldName in
        [
          API.uafCreateToken(operation, isOldName).answered { [tokens] call in
            let asked = try readingUAF(GetUAFRequest(parsing: call.input))
            let made = try await tokens.create(asked, for: operation, by: .relyingParty(call.caller))
            return MadeUAFToken(token: made.token, session: made.session.id)
          },
          API.uafRedeemToken(operation, isOldName).answered { [self] call in
            do {
              let text = try await tokens.redeem(call.input.token, for: operation)
              return Self.uaf(
                ReturnUAFRequest(
                  .ok, request: text, operation: operation,
                  lifetimeMillis: setup.settings.requestLifetime * 1_000))
            } catch { return Self.uaf(returned(UAFStatusFailure(answering: error, context))) }
          },
        ]
      } + [
        API.uafDispatchToken(operation).answered { [tokens] call in
          try await tokens.dispatch(call.input, for: operation, by: .relyingParty(call.caller))
        }
      ]
    } + [status]
  }
}

extension API {
  static func uafCreateToken(
    _ operation: UAFOperation, _ isOldName: Bool
  ) -> Endpoint<APIKeyRecord, [UInt8], MadeUAFToken> {
    Endpoint(
      .post, "/token/" + (isOldName ? "" : "create/") + operation.pathName, .manage,
      "uafCreateToken\(operation.idName)" + (isOldName ? "ByOldName" : ""),
      "Create a token for a \(operation.pathName), without sending it", in: .uaf, by: .relyingParty,
      takes: .uaf(.getUAFRequest, as: "application/json"),
      answers: .json(MadeUAFToken.self, "The token, which is shown only once."),
      or: [.uafForbidden, .uafUnknown] + (operation == .authentication ? [.uafTooMany] : []), below: .uaf,
      .uaf)
  }

  static func uafDispatchToken(
    _ operation: UAFOperation
  ) -> Endpoint<APIKeyRecord, UAFDispatch, UAFDispatched> {
    Endpoint(
      .post, "/token/dispatch/\(operation.pathName)", .manage, "uafDispatchToken\(operation.idName)",
      "Create a token for a \(operation.pathName), and send it to a device", in: .uaf, by: .relyingParty,
      takes: .uafJSON(UAFDispatch.self),
      answers: .json(UAFDispatched.self, "The body says whether the token was sent."),
      or: [.uafForbidden] + (operation == .deregistration ? [] : [.uafTooMany]), below: .uaf, .uaf)
  }

  static func uafRedeemToken(
    _ operation: UAFOperation, _ isOldName: Bool
  ) -> Endpoint<Void, UAFTokenToRedeem, ServerResponse> {
    Endpoint(
      .post, (isOldName ? "/redeemToken/" : "/token/redeem/") + operation.pathName, .grant,
      "uafRedeem\(operation.idName)" + (isOldName ? "ByOldName" : ""), "Redeem a token for its request, once",
      in: .uaf, by: .none, takes: .uafJSON(UAFTokenToRedeem.self, accepted: UAFNames.mediaType),
      answers: .uaf(.returnUAFRequest), or: [.uafAccept], below: .uaf, .uaf)
  }

  static let uafStatus = Endpoint(
    .post, "/status", .read, "uafStatus", "Get the state of an operation", in: .uaf, by: .none,
    takes: .uafJSON(UAFOperationQuery.self),
    answers: .json(UAFStatusReport.self, "`unknown` where there is none."), below: .uaf,
    .uaf)
}
