import SignetHTTPServer
import SignetJSON
import SignetProtocol
package import SignetStorage
import SignetSystem

package struct CodeToValidate: Message {
  package let user: UserID, code: String, client: String?

  package init(user: UserID, code: String, client: String?) {
    self.user = user
    self.code = code
    self.client = client
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("code", \Self.code)
    Member("client", \Self.client, .client)
  }
}

/// Two consecutive codes of a user's credential.
package struct CodesToResynchronise: Message {
  package let user: UserID, codes: [String], serial: TokenSerial?, client: String?

  package init(user: UserID, codes: [String], serial: TokenSerial?, client: String?) {
    self.user = user
    self.codes = codes
    self.serial = serial
    self.client = client
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("codes", \Self.codes, .list(2...2))
    Member("serial", \Self.serial)
    Member("client", \Self.client, .client)
  }
}

package struct TokenToVerify: Message {
  package let user: UserID, serial: TokenSerial, code: String, client: String?

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("serial", \Self.serial)
    Member("code", \Self.code)
    Member("client", \Self.client, .client)
  }
}

extension Shape where Value == String {
  /// The end user's address, from the relying party.
  static let client = Shape.text(1...64).adding([
    "description": "The end user's IP address, or another identifier of the client."
  ])
}

extension TokenSerial: Shaped {
  package static var shape: Shape<TokenSerial> {
    let text = Shape<String>.text(1...64)
    return Shape(schema: text.schema.described("Visible ASCII characters.")) { value, member in
      try TokenSerial(try Shape<String>.anyText(value, member))
    } write: {
      .string($0.text)
    }.named("Serial")
  }
}

/// The result of a validation, and the action to take if it failed; it does not reveal whether the code was right.
package struct CodeAnswer: Sendable {
  /// The reason why a code was not accepted.
  package enum Reason: String, Sendable, CaseIterable, Shaped {
    case refused, waiting, locked
  }
  package let isAccepted: Bool, reason: Reason?, retryAfter: Int64?

  /// Returns the schema; `name` is the name of the member for acceptance.
  static func schema(_ name: String) -> MessageSchema<Self> {
    MessageSchema(Self.init) {
      Member(name, \Self.isAccepted, "Whether it was accepted.")
      Member("reason", \Self.reason, "Why it was not accepted; absent if it was.")
      Member("retryAfter", \Self.retryAfter, .integer(0...), "Seconds to wait, with `waiting`.")
    }
  }
}

extension CodeAnswer {
  init(_ outcome: CodeOutcome) {
    switch outcome {
    case .accepted: self.init(isAccepted: true, reason: nil, retryAfter: nil)
    case .refused, .keyRevoked: self.init(isAccepted: false, reason: .refused, retryAfter: nil)
    case .locked: self.init(isAccepted: false, reason: .locked, retryAfter: nil)
    case .waiting(let seconds): self.init(isAccepted: false, reason: .waiting, retryAfter: seconds)
    }
  }

  static let (valid, verified, resynchronised) = (
    schema("valid"), schema("verified"), schema("resynchronised")
  )
}

extension API {
  package static let validateCode = Endpoint(
    .post, "/otp/validate", .grant, "validateCode", "Validate a one-time password, which is used up",
    details: "docs/protocol.md section 6", in: .codes, by: .seenRelyingParty,
    takes: .json(
      CodeToValidate.self, example: ["user": "alice", "code": "123456", "client": "192.0.2.7"]),
    answers: .json(CodeAnswer.valid, "Whether it is valid."))
  package static let resynchroniseCodes = Endpoint(
    .post, "/otp/resync", .grant, "resynchroniseCodes", "Resynchronise a credential by two consecutive codes",
    in: .codes, by: .seenRelyingParty,
    takes: .json(
      CodesToResynchronise.self,
      example: ["user": "alice", "codes": ["123456", "234567"], "client": "192.0.2.8"]),
    answers: .json(CodeAnswer.resynchronised, "Whether it was resynchronised."))
  package static let verifyToken = Endpoint(
    .post, "/otp/verify", .grant, "verifyToken", "Verify a token by its first code",
    in: .codes, by: .seenRelyingParty,
    takes: .json(
      TokenToVerify.self,
      example: ["user": "alice", "serial": "token-1", "code": "123456", "client": "192.0.2.9"]),
    answers: .json(CodeAnswer.verified, "Whether the code was right."))
}

/// The endpoints for one-time passwords, for relying parties (`docs/protocol.md` sections 6 and 7).
struct CodeEndpoints: Sendable {
  let keys: APIKeyService
  let codes: CodeService

  var routes: [Route] {
    [
      // Runs on the thread that received the request; the committing thread sends the answer.
      API.validateCode.answered(directly: { [self] call, responder, _ in
        let requester = requester(call.caller, call.input.client)
        try codes.validate(call.input.code, user: call.input.user, by: requester).then { outcome in
          do { responder.answer(Self.response(try answer(outcome.get(), requester))) } catch {
            responder.answer(Dialect.signet.response(to: error, codes.context))
          }
        }
      }),
      API.resynchroniseCodes.answered { [self] call in
        let requester = requester(call.caller, call.input.client)
        let outcome = try await codes.resynchronise(
          (call.input.codes[0], call.input.codes[1]), user: call.input.user,
          serial: call.input.serial?.text, by: requester
        ).value
        return CodeAnswer(try answer(outcome, requester))
      },
      API.verifyToken.answered { [self] call in
        let requester = requester(call.caller, call.input.client)
        let outcome = try await codes.verify(
          call.input.code, user: call.input.user, serial: call.input.serial.text, by: requester
        ).value
        return CodeAnswer(try answer(outcome, requester))
      },
    ]
  }

  /// Returns the requester; the storage step that uses up the codes checks that the key is still valid.
  private func requester(_ key: APIKeyRecord, _ client: String?) -> CodeService.Requester {
    CodeService.Requester(key.actor, key: key.id, client: client)
  }

  private func answer(
    _ outcome: CodeOutcome, _ requester: CodeService.Requester
  ) throws(Problem) -> CodeOutcome {
    guard outcome != .keyRevoked else {
      if let key = requester.key { keys.forget(key) }
      throw APIKeyService.refused
    }
    return outcome
  }

  private static func response(_ outcome: CodeOutcome) -> ServerResponse {
    outcome == .accepted ? valid : .json(CodeAnswer.valid.write(CodeAnswer(outcome)))
  }

  /// Encoded once, since nearly all answers are this one.
  private static let valid = ServerResponse.json(
    CodeAnswer.valid.write(CodeAnswer(.accepted))
  ).preparedForSending()
}
