import SignetHTTP
import SignetJSON
import SignetStorage
import SignetWire

/// One-time passwords, as relying parties ask about them (`docs/protocol.md` sections 6 and 7).
struct CodeEndpoints: Sendable {
  let keys: APIKeyService
  let codes: CodeService

  func validate(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let (asker, body) = try await asker(request)
    let (user, code) = try members((body.string("user"), body.string("code")))
    return try answer(await codes.validate(code, user: userID(user), by: asker), "valid", asker)
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
    let key = try await keys.seenKey(
      authorization: request.headers["Authorization"], scope: .relyingParty)
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
    return .json(outcome.json(name))
  }
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
