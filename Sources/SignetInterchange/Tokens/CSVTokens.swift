import SignetCrypto
package import SignetJSON
import SignetSystem

/// A CSV list of tokens: comma-separated lines without quotes, of which the first one names the columns.
package struct CSVTokens: Sendable {
  private static let numbers = ["digits", "period", "start", "counter"]
  private static let texts = ["serial", "kind", "algorithm", "user"]
  private static let secrets = ["secret", "secret-hex", "secret-base32"]
  package static let columns = texts + secrets + numbers

  /// The tokens in the form of the protocol; empty fields are left out.
  package let tokens: [JSONObject]
  /// The line of each token; the first line of the file is 1.
  package let lines: [Int]

  /// Parses a list.
  ///
  /// - Throws: ``TokenListFailure``, which never contains a secret.
  package init(parsing bytes: [UInt8]) throws(TokenListFailure) {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    // The lines get an editor's numbers before empty ones are dropped.
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
      .filter { !$0.element.isEmpty }[...]
    var tokens: [JSONObject] = []
    var numbers: [Int] = []
    if let first = lines.popFirst() {
      // Only a leading quotation mark proves that this is a quoted header; other lines may be tokens without a header.
      if first.element.first == "\"" { throw Self.quoted(first.offset + 1) }
      let names = Self.fields(first.element).map { $0.lowercased() }
      // The failure has the column's number, not its text: without a header, the field is a token's and may be its secret.
      if let column = names.firstIndex(where: { !Self.columns.contains($0) }) {
        throw .unknownColumn(column + 1)
      }
      guard Set(names).count == names.count, Set(names).isSuperset(of: ["serial", "kind"]),
        names.filter(Self.secrets.contains).count == 1
      else { throw .missingColumns }
      for (index, line) in lines {
        guard !line.utf8.contains(UInt8(ascii: "\"")) else { throw Self.quoted(index + 1) }
        tokens.append(try Self.token(names, Self.fields(line), line: index + 1))
        numbers.append(index + 1)
      }
    }
    (self.tokens, self.lines) = (tokens, numbers)
  }

  /// Returns the failure for a line with quotes, which would become part of a field.
  private static func quoted(_ line: Int) -> TokenListFailure {
    .line(line, reason: "it has a quotation mark; export the file without quotes")
  }

  private static func fields(_ line: Substring) -> [String] {
    line.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
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
