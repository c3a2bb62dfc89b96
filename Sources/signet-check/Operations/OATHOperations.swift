import SignetCrypto
import SignetJSON
import SignetOATH

/// One-time passwords (RFC 4226, RFC 6238 and RFC 6287).
let oathOperations = [
  Operation(name: "hotp") { request in
    let hotp = try HOTP(
      secret: try request.secret("secretHex"), algorithm: try request.oathAlgorithm(),
      digits: try request.digits())
    return ["code": .string(hotp.code(at: try request.unsigned("counter")))]
  },
  Operation(name: "totp") { request in
    let totp = try TOTP(
      secret: try request.secret("secretHex"), algorithm: try request.oathAlgorithm(),
      digits: try request.digits(),
      period: Int(clamping: try request.integer("period", default: 30)),
      start: try request.integer("t0", default: 0))
    let code = try totp.code(at: try request.members.integer("unixTime"))
    return [
      "code": .string(code.code), "counter": number(code.counter),
      "validFrom": .integer(code.validFrom), "validUntil": .integer(code.validUntil),
    ]
  },
  Operation(name: "ocra") { request in
    let ocra = try OCRA(
      secret: try request.secret("keyHex"), suite: OCRASuite(request.members.string("suite")))
    let input = try request.ocraInput(for: ocra.suite)
    let question = try request.members.string("question")
    // The vectors of RFC 6287 appendix C.2 write the two challenges of a mutual response as one text.
    let length = ocra.suite.maximumChallengeLength
    guard question.utf8.count == 2 * length else {
      return ["response": .string(try ocra.response(to: OCRAChallenge(question, for: ocra.suite), input))]
    }
    let first = try OCRAChallenge(String(question.prefix(length)), for: ocra.suite)
    let second = try OCRAChallenge(String(question.dropFirst(length)), for: ocra.suite)
    return ["response": .string(try ocra.serverResponse(client: first, server: second, input))]
  },
]

/// Converts an unsigned 64-bit number: a string of digits if it exceeds a signed JSON number.
private func number(_ value: UInt64) -> JSONValue {
  Int64(exactly: value).map { .integer($0) } ?? .string(String(value))
}

extension Request {
  fileprivate func oathAlgorithm() throws -> OATHAlgorithm {
    let names = OATHAlgorithm.allCases.map { ($0.rawValue.lowercased(), $0) }
    return try choice("algorithm", Dictionary(uniqueKeysWithValues: names), default: .sha1)
  }

  /// Reads the inputs that the suite requires; other members are ignored.
  fileprivate func ocraInput(for suite: OCRASuite) throws -> OCRAInput {
    OCRAInput(
      counter: suite.hasCounter ? try unsigned("counter") : nil,
      pin: suite.pinHash == nil
        ? nil : SharedSecretBox(SecretBytes(copying: Array(try members.string("pin").utf8))),
      session: suite.sessionByteCount == nil ? nil : try hex("sessionHex"),
      unixTime: suite.timeStep == nil ? nil : try members.integer("unixTime"))
  }

  fileprivate func digits() throws -> Int { Int(clamping: try integer("digits", default: 6)) }
}
