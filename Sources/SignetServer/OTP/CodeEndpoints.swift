import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// One-time passwords, as relying parties ask about them (`docs/protocol.md` sections 6 and 7).
struct CodeEndpoints: Sendable {
  let keys: APIKeyService
  let codes: CodeService

  /// Checks a code on the thread that the request came on; the thread that commits answers.
  func validate(_ request: ServerRequest, _ responder: Responder) {
    do throws(Problem) {
      guard
        let key = try keys.keyInMemory(authorization: request.headers["Authorization"], scope: .relyingParty)
      else {
        // One read, for all that come after it.
        return responder.answer { await validateByUnseenKey(request) }
      }
      let (asker, user, code) = try attempt(request, key)
      try codes.validate(code, user: user, by: asker) { outcome in
        do throws(Problem) { responder.answer(try answer(outcome.get(), "valid", asker)) } catch {
          responder.answer(.problem(error))
        }
      }
    } catch { responder.answer(.problem(error)) }
  }

  private func validateByUnseenKey(_ request: ServerRequest) async -> ServerResponse {
    do throws(Problem) {
      let key = try await keys.seenKey(
        authorization: request.headers["Authorization"], scope: .relyingParty)
      let (asker, user, code) = try attempt(request, key)
      return try answer(await codes.validate(code, user: user, by: asker), "valid", asker)
    } catch { return .problem(error) }
  }

  private func attempt(
    _ request: ServerRequest, _ key: APIKeyRecord
  ) throws(Problem) -> (CodeService.Asker, UserID, code: String) {
    let (asker, body) = try asker(request, key)
    let (user, code) = try members((body.string("user"), body.string("code")))
    return (asker, try userID(user), code)
  }

  func resynchronise(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let (asker, body) = try await asker(request)
    let (user, pair, serial) = try members(
      (body.string("user"), body.strings("codes"), body.optionalString("serial")))
    let outcome = try await codes.resynchronise(
      twoCodes(pair), user: userID(user),
      serial: serial.map { text throws(Problem) in try TokenSerial(text).text },
      by: asker)
    return try answer(outcome, "resynchronised", asker)
  }

  func verify(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let (asker, body) = try await asker(request)
    let (user, serial, code) = try members((body.string("user"), body.string("serial"), body.string("code")))
    let outcome = try await codes.verify(
      code, user: userID(user), serial: TokenSerial(serial).text, by: asker)
    return try answer(outcome, "verified", asker)
  }

  /// Who asks; that the key is still good is checked in the step that uses the codes up.
  private func asker(_ request: ServerRequest) async throws(Problem) -> (CodeService.Asker, JSONObject) {
    try asker(
      request, await keys.seenKey(authorization: request.headers["Authorization"], scope: .relyingParty))
  }

  private func asker(
    _ request: ServerRequest, _ key: APIKeyRecord
  ) throws(Problem) -> (CodeService.Asker, JSONObject) {
    let body = try jsonBody(of: request)
    let client = try members(body.optionalString("client"))
    return (CodeService.Asker(key.actor, key: key.id, client: client), body)
  }

  private func answer(
    _ outcome: CodeOutcome, _ name: String, _ asker: CodeService.Asker
  ) throws(Problem) -> ServerResponse {
    guard outcome != .keyRevoked else {
      if let key = asker.key { keys.forget(key) }
      throw APIKeyService.refused
    }
    return outcome == .accepted && name == "valid" ? Self.valid : .json(outcome.json(name))
  }

  /// Nearly all answers are this one.
  private static let valid = ServerResponse.json(CodeOutcome.accepted.json("valid")).keptForSending()
}

extension CodeOutcome {
  /// The answer: whether the codes are good and, where they are not, what to do, which does not tell whether they were right.
  func json(_ name: String) -> JSONObject {
    var object = JSONObject()
    object[name] = .bool(self == .accepted)
    switch self {
    case .accepted: break
    case .refused, .keyRevoked: object["reason"] = "refused"
    case .locked: object["reason"] = "locked"
    case .waiting(let seconds):
      object["reason"] = "waiting"
      object["retryAfter"] = .integer(seconds)
    }
    return object
  }
}

/// Two codes in a row, as a request names them.
func twoCodes(_ codes: [String]) throws(Problem) -> (String, String) {
  guard codes.count == 2 else { throw Problem(.malformed, "\"codes\" are two codes that follow each other") }
  return (codes[0], codes[1])
}
