import SignetCrypto
import SignetJSON

/// The members of a request, read by name; every failure names the member.
struct Request {
  let members: JSONObject

  init(_ members: JSONObject) { self.members = members }

  func string(_ name: String) throws -> String { try members.string(name) }

  func object(_ name: String) throws -> JSONObject { try members.object(name) }

  func integer(_ name: String, default value: Int64) throws -> Int64 {
    try members.optionalInteger(name) ?? value
  }

  /// Reads a whole number from 0 to 2^64 - 1; above 2^63 - 1, the limit of JSON numbers here, as a string of digits.
  func unsigned(_ name: String) throws -> UInt64 {
    let text: String
    switch try members.value(name) {
    case .integer(let value): text = String(value)
    case .string(let value): text = value
    default: text = ""
    }
    guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let value = UInt64(text) else {
      throw CheckFailure(invalid: name, "use a whole number from 0 to 2^64 - 1")
    }
    return value
  }

  func hex(_ name: String) throws -> [UInt8] {
    let text = try string(name)
    do {
      return try Hex.decode(text)
    } catch {
      throw CheckFailure(invalid: name, error.description)
    }
  }

  func secret(_ name: String) throws -> SecretBytes { SecretBytes(copying: try hex(name)) }

  /// Reads one of several words, case-insensitively; returns `value` if absent.
  func choice<Choice>(_ name: String, _ choices: [String: Choice], default value: Choice) throws -> Choice {
    guard let text = try members.optionalString(name) else { return value }
    guard let choice = choices[text.lowercased()] else {
      throw CheckFailure(invalid: name, "use one of \(choices.keys.sorted().joined(separator: ", "))")
    }
    return choice
  }

  /// Reads a list of allowed algorithms, case-insensitively; nil if there is no list.
  ///
  /// An unknown name allows nothing and is ignored.
  func algorithms<Algorithm>(_ name: String) throws -> Set<Algorithm>?
  where Algorithm: CaseIterable & RawRepresentable & Hashable, Algorithm.RawValue == String {
    guard let names = try members.optionalStrings(name) else { return nil }
    let expected = Set(names.map { $0.lowercased() })
    return Set(Algorithm.allCases.filter { expected.contains($0.rawValue.lowercased()) })
  }
}
