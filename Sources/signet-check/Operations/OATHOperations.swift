import SignetCrypto
import SignetJSON
import SignetOATH

/// RFC 4226 and RFC 6238.
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
]

/// A number of 64 bits without sign: digits in a string where a JSON number would lose some.
private func number(_ value: UInt64) -> JSONValue {
  Int64(exactly: value).map { .integer($0) } ?? .string(String(value))
}

extension Request {
  fileprivate func oathAlgorithm() throws -> OATHAlgorithm {
    let names = OATHAlgorithm.allCases.map { ($0.rawValue.lowercased(), $0) }
    return try choice("algorithm", Dictionary(uniqueKeysWithValues: names), default: .sha1)
  }

  fileprivate func digits() throws -> Int { Int(clamping: try integer("digits", default: 6)) }
}
