import SignetJSON

/// One operation: it computes the members of `ok` from the members of a request.
struct Operation: Sendable {
  let name: String
  let run: @Sendable (Request) throws -> JSONObject
}

enum CheckSession {
  private static let operations = Dictionary(
    uniqueKeysWithValues: (base32Operations + oathOperations + joseOperations + ellipticCurveOperations
      + policyOperations + accountPolicyOperations + uriOperations + pushOperations + uafOperations
      + wireOperations + accountFileOperations + keyDerivationOperations)
      .map { ($0.name, $0) })

  /// The names of all operations, in alphabetical order.
  static let operationNames = operations.keys.sorted()

  private static let limits = JSONLimits(
    maximumDepth: 64, maximumByteCount: LineReader.limit, maximumMemberCount: 65_536)

  /// Returns the answer to a line, without line feed.
  static func answer(to line: InputLine) -> [UInt8] {
    let members: JSONObject
    switch line {
    case .tooLong:
      let message = "the line is longer than \(LineReader.limit) bytes; split the request"
      return error(CheckFailure("input.tooLong", message), id: .null).bytes
    case .bytes(let bytes):
      do {
        members = try JSONObject(parsing: bytes, limits: limits)
      } catch {
        return self.error(CheckFailure("input.malformed", error.description), id: .null).bytes
      }
    }
    let id = members["id"] ?? .null
    do {
      let result = try result(of: Request(members))
      return JSONObject(dictionaryLiteral: ("id", id), ("ok", .object(result))).bytes
    } catch {
      return self.error(CheckFailure(translating: error), id: id).bytes
    }
  }

  private static func result(of request: Request) throws -> JSONObject {
    let name = try request.string("op")
    guard let operation = operations[name] else {
      throw CheckFailure("op.unknown", "op \"\(name.prefix(40))\" is unknown; see docs/signet-check.md")
    }
    return try operation.run(request)
  }

  private static func error(_ failure: CheckFailure, id: JSONValue) -> JSONObject {
    ["id": id, "error": ["code": .string(failure.code), "message": .string(failure.message)]]
  }
}
