import SignetCrypto
import SignetHTTP
import SignetJSON
import SignetOATH
import SignetStorage
import SignetWire

/// Imported tokens, as operators manage them (`docs/protocol.md` section 7).
struct TokenEndpoints: Sendable {
  let keys: APIKeyService
  let tokens: TokenService
  let codes: CodeService

  private func actor(of request: ServerRequest) async throws(Problem) -> AuditActor {
    try await keys.authenticate(authorization: request.headers["Authorization"], scope: .admin)
  }

  private func serial(of request: ServerRequest) throws(Problem) -> TokenSerial {
    try TokenSerial(request.parameters["serial"] ?? "")
  }

  func add(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let body = try jsonBody(of: request)
    let elements = try members(body.array("tokens"))
    guard (1...TokenService.batchLimit).contains(elements.count) else {
      throw Problem(.malformed, "\"tokens\" are 1 to \(TokenService.batchLimit)")
    }
    var records: [CredentialRecord] = []
    for element in elements {
      guard case .object(let object) = element else {
        throw Problem(.malformed, "each of \"tokens\" is an object")
      }
      records.append(try tokens.sealed(Self.token(object)))
    }
    let added = try await tokens.add(records, by: actor)
    let known = Set(records.compactMap(\.serial)).subtracting(added).sorted()
    return .json(
      ["added": .array(added.map { .string($0) }), "known": .array(known.map { .string($0) })], status: 201)
  }

  private static func token(_ object: JSONObject) throws(Problem) -> TokenService.NewToken {
    let serial = try TokenSerial(members(object.string("serial")))
    let (kindName, text) = try members((object.string("kind"), object.string("secret")))
    guard let kind = CredentialRecord.Kind(rawValue: kindName) else {
      throw Problem(
        .malformed, "The token \(serial.text) is of a kind that is neither \"hotp\" nor \"totp\".")
    }
    let name = try members(object.optionalString("algorithm")) ?? "SHA1"
    guard let algorithm = OATHAlgorithm(name: name) else {
      throw Problem(
        .malformed, "The token \(serial.text) has an algorithm that is not SHA1, SHA256 or SHA512.")
    }
    var bytes: [UInt8]
    do { bytes = try Base64URL.decode(text) } catch {
      throw Problem(.malformed, "The token \(serial.text) has a secret that is not base64url.")
    }
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    let numbers = try members(
      (
        object.optionalInteger("digits"), object.optionalInteger("period"), object.optionalInteger("start"),
        object.optionalInteger("counter")
      ))
    let user = try members(object.optionalString("user"))
    return try TokenService.NewToken(
      serial: serial, kind: kind, secret: SecretBytes(copying: bytes), algorithm: algorithm,
      digits: Int(clamping: numbers.0 ?? 6), period: Int(clamping: numbers.1 ?? 30), start: numbers.2 ?? 0,
      counter: numbers.3 ?? 0, user: user.map { text throws(Problem) in try userID(text) })
  }

  func list(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    _ = try await actor(of: request)
    guard let limit = Int(request.query["limit"] ?? "100"), (1...TokenService.batchLimit).contains(limit)
    else {
      throw Problem(.malformed, "\"limit\" is 1 to \(TokenService.batchLimit)")
    }
    let found = try await tokens.list(
      after: request.query["after"] ?? "",
      user: request.query["user"].map { text throws(Problem) in try userID(text) },
      limit: limit)
    return .json(["tokens": .array(found.map { .object(json($0)) })])
  }

  private func json(_ token: CredentialRecord) -> JSONObject {
    var object: JSONObject = [
      "serial": .string(token.serial ?? ""), "kind": .string(token.kind.rawValue),
      "algorithm": .string(token.algorithm), "digits": .integer(Int64(token.digits)),
      "state": .string(tokens.isLocked(token) ? "locked" : token.state.rawValue),
      "failures": .integer(Int64(token.failures)), "created": .integer(token.created),
    ]
    if let user = token.user { object["user"] = .string(user) }
    switch token.kind {
    case .hotp: object["counter"] = .integer(token.lastCounter + 1)
    case .totp:
      object["period"] = .integer(Int64(token.period))
      object["drift"] = .integer(token.drift)
    }
    return object
  }

  func assign(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let serial = try serial(of: request)
    let body = try jsonBody(of: request)
    let user = try members(body.optionalString("user"))
    try await tokens.assign(serial, to: user.map { text throws(Problem) in try userID(text) }, by: actor)
    var answer: JSONObject = ["serial": .string(serial.text)]
    if let user { answer["user"] = .string(user) }
    return .json(answer)
  }

  func disable(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try await setDisabled(true, request)
  }

  func enable(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    try await setDisabled(false, request)
  }

  private func setDisabled(_ isDisabled: Bool, _ request: ServerRequest) async throws(Problem)
    -> ServerResponse
  {
    let actor = try await actor(of: request)
    let serial = try serial(of: request)
    try await tokens.disable(serial, isDisabled, by: actor)
    return .json(["serial": .string(serial.text), "disabled": .bool(isDisabled)])
  }

  func remove(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let serial = try serial(of: request)
    try await tokens.remove(serial, by: actor)
    return .json(["serial": .string(serial.text)])
  }

  func verify(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let serial = try serial(of: request)
    let body = try jsonBody(of: request)
    let code = try members(body.string("code"))
    let outcome = try await codes.verify(code, user: nil, serial: serial.text, by: CodeService.Asker(actor))
    return .json(outcome.json("verified"))
  }

  func resynchronise(_ request: ServerRequest) async throws(Problem) -> ServerResponse {
    let actor = try await actor(of: request)
    let serial = try serial(of: request)
    let body = try jsonBody(of: request)
    let pair = try members(body.strings("codes"))
    let outcome = try await codes.resynchronise(
      twoCodes(pair), user: nil, serial: serial.text, by: CodeService.Asker(actor))
    return .json(outcome.json("resynchronised"))
  }
}
