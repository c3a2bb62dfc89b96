import SignetCrypto
import SignetInterchange
import SignetJSON
package import SignetOATH
package import SignetProtocol
package import SignetStorage
import SignetSystem

extension CredentialRecord.Kind: Shaped {}

package struct NewToken: Message {
  package let serial: TokenSerial, kind: CredentialRecord.Kind, secret: String, algorithm: OATHAlgorithm?
  package let digits: Int64?, period: Int64?, start: Int64?, counter: Int64?, user: UserID?

  package static let schema = MessageSchema(Self.init) {
    Member("serial", \Self.serial)
    Member("kind", \Self.kind)
    Member("secret", \Self.secret, "base64url of 16 to 128 bytes.")
    Member("algorithm", \Self.algorithm)
    Member("digits", \Self.digits, .integer(6...10))
    Member("period", \Self.period, .integer(1...3600))
    Member("start", \Self.start, .integer(0...1_099_511_627_776))
    Member("counter", \Self.counter, .integer(0...1_099_511_627_776), "Of the next code.")
    Member("user", \Self.user)
  }

  /// Decodes the secret and validates the token.
  ///
  /// - Returns: The token.
  /// - Throws: ``Problem/Code/malformed``, with the serial number and the reason.
  package func decoded() throws(Problem) -> TokenService.NewToken {
    var bytes: [UInt8]
    do { bytes = try Base64URL.decode(secret) } catch {
      throw Problem(.malformed, "The token \(serial.text) has a secret that is not base64url.")
    }
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    return try TokenService.NewToken(
      serial: serial, kind: kind, secret: SecretBytes(copying: bytes), algorithm: algorithm ?? .sha1,
      digits: Int(digits ?? 6), period: Int(period ?? 30), start: start ?? 0, counter: counter ?? 0,
      user: user)
  }
}

extension Shape where Value == String {
  /// The hash algorithm of a token's codes.
  static let tokenAlgorithm = Shape.oneOf(OATHAlgorithm.standardNames)
}

extension OATHAlgorithm: Shaped {
  /// A standard algorithm; its name is also accepted in lower case.
  package static var shape: Shape<OATHAlgorithm> {
    Shape(schema: Shape<String>.tokenAlgorithm.schema) { value, member in
      guard let algorithm = OATHAlgorithm(name: try Shape<String>.anyText(value, member)) else {
        throw ShapeFailure.choice(member: member, allowed: standardNames)
      }
      return algorithm
    } write: {
      .string($0.rawValue)
    }
  }
}

package struct NewTokens: Message {
  package let tokens: [NewToken]

  package init(tokens: [NewToken]) { self.tokens = tokens }

  package static let schema = MessageSchema(Self.init) {
    Member("tokens", \Self.tokens, .list(1...Int64(TokenService.batchLimit)))
  }
}

/// The serial numbers of the imported tokens: those that were new, and those that existed.
package struct AddedTokens: Message {
  package let added: [String], known: [String]

  package static let schema = MessageSchema(Self.init) {
    Member("added", \Self.added)
    Member("known", \Self.known)
  }
}

package struct TokenQuery: Message {
  package let user: UserID?, after: String?, limit: Int64?

  package init(user: UserID?, after: String?, limit: Int64?) {
    self.user = user
    self.after = after
    self.limit = limit
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user, "Only tokens of this user.")
    Member("after", \Self.after, "The serial number of the last token received.")
    Member(
      "limit", \Self.limit, .integer(1...Int64(TokenService.batchLimit)),
      "The maximum number of tokens; 100 by default.")
  }
}

package enum TokenState: String, Sendable, CaseIterable, Shaped {
  case pending, active, disabled, locked
  /// Its row does not verify: the token makes no valid codes and can only be removed.
  case altered
}

/// An imported token without its secret.
package struct TokenDescription: Message {
  package let serial: String, kind: CredentialRecord.Kind, algorithm: String, digits: Int64
  package let state: TokenState, failures: Int64, created: Int64, user: String?
  package let counter: Int64?, period: Int64?, drift: Int64?

  package static let schema = MessageSchema(Self.init, named: "Token") {
    Member("serial", \Self.serial)
    Member("kind", \Self.kind)
    Member("algorithm", \Self.algorithm, .tokenAlgorithm.ofRow)
    Member("digits", \Self.digits, .integer(6...10).ofRow)
    Member(
      "state", \Self.state, "`altered` if its row was not written by this server: the token can be removed.")
    Member("failures", \Self.failures, .integer(0...).ofRow)
    Member("created", \Self.created, .time)
    Member("user", \Self.user)
    Member("counter", \Self.counter, .integer(0...).ofRow)
    Member("period", \Self.period, .integer(1...3600).ofRow)
    Member("drift", \Self.drift, "Time steps.")
  }
}

package struct TokenList: Message {
  package let tokens: [TokenDescription]

  package static let schema = MessageSchema(Self.init) { Member("tokens", \Self.tokens) }
}

/// The user to assign a token to; no user removes the assignment.
package struct TokenAssignment: Message {
  package let user: UserID?

  package init(user: UserID?) { self.user = user }

  package static let schema = MessageSchema(Self.init) { Member("user", \Self.user) }
}

package struct AssignedToken: Message {
  package let serial: String, user: String?

  package static let schema = MessageSchema(Self.init) {
    Member("serial", \Self.serial)
    Member("user", \Self.user)
  }
}

/// A token that was disabled or enabled.
package struct DisabledToken: Message {
  package let serial: String, disabled: Bool

  package static let schema = MessageSchema(Self.init) {
    Member("serial", \Self.serial)
    Member("disabled", \Self.disabled)
  }
}

/// The serial number of the changed token.
package struct NamedBySerial: Message {
  package let serial: String

  package static let schema = MessageSchema(Self.init) { Member("serial", \Self.serial) }
}

package struct CodeOfToken: Message {
  package let code: String

  package init(code: String) { self.code = code }

  package static let schema = MessageSchema(Self.init) { Member("code", \Self.code) }
}

package struct CodesOfToken: Message {
  package let codes: [String]

  package init(codes: [String]) { self.codes = codes }

  package static let schema = MessageSchema(Self.init) { Member("codes", \Self.codes, .list(2...2)) }
}

extension API {
  package static let addTokens = Endpoint(
    .post, "/admin/tokens", .manage, "addTokens", "Import tokens", in: .tokens, by: .admin,
    takes: .json(
      NewTokens.self,
      example: [
        "tokens": [["serial": "token-1", "kind": "hotp", "secret": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA"]]
      ]), answers: .created(AddedTokens.self, "The tokens that were added."), or: [.unknown])
  package static let listTokens = Endpoint(
    .get, "/admin/tokens", .read, "listTokens", "List the imported tokens", in: .tokens, by: .admin,
    takes: .query(TokenQuery.self), answers: .json(TokenList.self, "By serial number."), or: [.unknown])
  package static let removeToken = Endpoint(
    .delete, "/admin/tokens/{serial}", .manage, "removeToken", "Remove a token and its secret",
    in: .tokens, by: .admin, answers: .json(NamedBySerial.self, "Done."), or: [.unknown])
  package static let assignToken = Endpoint(
    .post, "/admin/tokens/{serial}/assign", .manage, "assignToken",
    "Assign a token to a user, or unassign it", in: .tokens, by: .admin,
    takes: .json(TokenAssignment.self, example: ["user": "alice"]),
    answers: .json(AssignedToken.self, "The token, which must be verified again."), or: [.unknown])
  package static let disableToken = Endpoint(
    .post, "/admin/tokens/{serial}/disable", .manage, "disableToken", "Disable a token",
    in: .tokens, by: .admin, answers: .json(DisabledToken.self, "Done."), or: [.unknown])
  package static let enableToken = Endpoint(
    .post, "/admin/tokens/{serial}/enable", .manage, "enableToken",
    "Enable a disabled token, which must be verified again",
    in: .tokens, by: .admin, answers: .json(DisabledToken.self, "Done."), or: [.unknown])
  package static let verifyTokenAsOperator = Endpoint(
    .post, "/admin/tokens/{serial}/verify", .manage, "verifyTokenAsOperator",
    "Verify a token by its first code, without waiting times", in: .tokens, by: .admin,
    takes: .json(CodeOfToken.self, example: ["code": "123456"]),
    answers: .json(CodeAnswer.verified, "Whether the code was right."), or: [.unknown])
  package static let resynchroniseTokenAsOperator = Endpoint(
    .post, "/admin/tokens/{serial}/resync", .manage, "resynchroniseTokenAsOperator",
    "Resynchronise a token by two consecutive codes, without waiting times", in: .tokens, by: .admin,
    takes: .json(CodesOfToken.self, example: ["codes": ["123456", "234567"]]),
    answers: .json(CodeAnswer.resynchronised, "Whether it was resynchronised."), or: [.unknown])
}

/// The endpoints with which operators manage imported tokens (`docs/protocol.md` section 7).
struct TokenEndpoints: Sendable {
  let tokens: TokenService
  let codes: CodeService

  var routes: [Route] {
    [
      API.addTokens.answered { [tokens] call in
        var records: [CredentialRecord] = []
        for token in call.input.tokens { records.append(try tokens.sealed(token.decoded())) }
        let added = try await tokens.add(records, by: call.caller.actor)
        return AddedTokens(
          added: added, known: Set(records.compactMap(\.serial)).subtracting(added).sorted())
      },
      API.listTokens.answered { [self] call in
        let found = try await tokens.list(
          after: call.input.after ?? "", user: call.input.user, limit: Int(call.input.limit ?? 100))
        return TokenList(tokens: found.map { description(of: $0) })
      },
      API.removeToken.answered { [tokens] call in
        try await tokens.remove(call.serial(), by: call.caller.actor)
        return NamedBySerial(serial: call[.serial])
      },
      API.assignToken.answered { [tokens] call in
        try await tokens.assign(call.serial(), to: call.input.user, by: call.caller.actor)
        return AssignedToken(serial: call[.serial], user: call.input.user?.text)
      },
      API.disableToken.answered { [tokens] call in
        try await tokens.disable(call.serial(), true, by: call.caller.actor)
        return DisabledToken(serial: call[.serial], disabled: true)
      },
      API.enableToken.answered { [tokens] call in
        try await tokens.disable(call.serial(), false, by: call.caller.actor)
        return DisabledToken(serial: call[.serial], disabled: false)
      },
      API.verifyTokenAsOperator.answered { [codes] call in
        CodeAnswer(
          try await codes.verify(
            call.input.code, user: nil, serial: call.serial().text,
            by: CodeService.Requester(call.caller.actor)
          ).value)
      },
      API.resynchroniseTokenAsOperator.answered { [codes] call in
        CodeAnswer(
          try await codes.resynchronise(
            (call.input.codes[0], call.input.codes[1]), user: nil, serial: call.serial().text,
            by: CodeService.Requester(call.caller.actor)
          ).value)
      },
    ]
  }

  private func description(of token: CredentialRecord) -> TokenDescription {
    let state: TokenState =
      switch token.state {
      case .altered: .altered
      case _ where tokens.isLocked(token): .locked
      case .pending: .pending
      case .active: .active
      case .disabled: .disabled
      }
    let isTimed = token.kind == .totp
    return TokenDescription(
      serial: token.serial ?? "", kind: token.kind, algorithm: token.algorithm,
      digits: Int64(token.digits), state: state, failures: Int64(token.failures), created: token.created,
      user: token.user?.text, counter: isTimed ? nil : token.lastCounter + 1,
      period: isTimed ? Int64(token.period) : nil, drift: isTimed ? token.drift : nil)
  }
}
