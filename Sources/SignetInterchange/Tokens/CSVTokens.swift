import SignetCrypto
package import SignetJSON
import SignetSystem

/// A CSV list of tokens (RFC 4180), of which the first record names the columns.
package struct CSVTokens: Sendable {
  private static let numbers = ["digits", "period", "start", "counter"]
  private static let texts = ["serial", "kind", "algorithm", "user"]
  private static let secrets = ["secret", "secret-hex", "secret-base32"]
  package static let columns = texts + secrets + numbers

  /// The tokens in the form of the protocol; empty fields are left out.
  package let tokens: [JSONObject]
  /// The line on which each token begins; the first line of the file is 1.
  package let lines: [Int]

  /// Parses a list.
  ///
  /// - Throws: ``TokenListFailure``, which never contains a secret.
  package init(parsing bytes: [UInt8]) throws(TokenListFailure) {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    var records = try CSVRecord.records(in: text)[...]
    var tokens: [JSONObject] = []
    var lines: [Int] = []
    if let first = records.popFirst() {
      let names = first.fields.map { $0.lowercased() }
      // The failure has the column's number, not its text: without a header, the field is a token's and may be its secret.
      if let column = names.firstIndex(where: { !Self.columns.contains($0) }) {
        throw .unknownColumn(column + 1)
      }
      guard Set(names).count == names.count, Set(names).isSuperset(of: ["serial", "kind"]),
        names.filter(Self.secrets.contains).count == 1
      else { throw .missingColumns }
      for record in records {
        tokens.append(try Self.token(names, record.fields, line: record.line))
        lines.append(record.line)
      }
    }
    self.tokens = tokens
    self.lines = lines
  }

  private static func token(
    _ names: [String], _ fields: [String], line: Int
  ) throws(TokenListFailure) -> JSONObject {
    guard fields.count == names.count else {
      throw .line(line, reason: "\(fields.count) fields, and the first line names \(names.count)")
    }
    var object = JSONObject()
    for (name, field) in zip(names, fields) where !field.isEmpty {
      switch name {
      case "secret-hex", "secret-base32":
        var bytes: [UInt8]
        do { bytes = name == "secret-hex" ? try Hex.decode(field) : try Base32.decode(field) } catch {
          throw .line(line, reason: "the secret is not \(name.dropFirst("secret-".count))")
        }
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        object["secret"] = .string(Base64URL.encode(bytes))
      case _ where numbers.contains(name):
        guard let number = Int64(field) else { throw .line(line, reason: "\"\(name)\" is not a number") }
        object[name] = .integer(number)
      default: object[name] = .string(field)
      }
    }
    return object
  }
}
