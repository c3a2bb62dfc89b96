import SignetCrypto
import SignetJSON
import SignetOATH

/// The JSON members that Signet does not interpret: it keeps them and writes them back in the same format.
struct ForeignMembers {
  let format: InterchangeFormat
  private(set) var members: [ForeignMember] = []

  init(_ format: InterchangeFormat) { self.format = format }

  /// Selects the members of an account that came from this format.
  init(_ format: InterchangeFormat, of account: OTPAccount) {
    self.format = format
    members = account.foreign.filter { $0.format == format }
  }

  /// Keeps all members except the handled ones.
  mutating func collect(from object: JSONObject, inside parent: String? = nil, except handled: Set<String>) {
    for member in object.members where !handled.contains(member.name) {
      let name = parent.map { "\($0).\(member.name)" } ?? member.name
      members.append(ForeignMember(format: format, name: name, value: member.value.text))
    }
  }

  /// Returns the value of a member; `nil` if it is missing or malformed.
  subscript(name: String) -> JSONValue? {
    guard let member = members.first(where: { $0.name == name }) else { return nil }
    do { return try JSONValue(parsing: member.value, limits: AccountFile.limits) } catch { return nil }
  }

  /// Writes the members back into an object that does not have them yet.
  ///
  /// - Parameters:
  ///   - object: The object to write to.
  ///   - parent: The member whose value the object is; `nil` for the entry itself.
  ///   - excluded: The members whose own members are written separately.
  func write(into object: inout JSONObject, inside parent: String? = nil, except excluded: Set<String> = []) {
    for member in members {
      var name = Substring(member.name)
      if let parent {
        guard name.hasPrefix("\(parent).") else { continue }
        name = name.dropFirst(parent.count + 1)
      } else if excluded.contains(where: { name.hasPrefix("\($0).") || name == $0 }) {
        continue
      }
      if !object.contains(String(name)), let value = self[member.name] { object.set(String(name), value) }
    }
  }
}

extension JSONObject {
  /// Returns a text member; `nil` if it is missing or null.
  func entryText(_ name: String) throws(InterchangeFailure) -> String? {
    switch self[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw .json(.wrongType(member: name, expected: .string))
    }
  }

  /// Returns a whole number, also from a text; `nil` if the member is missing, null or an empty text.
  func entryNumber(_ name: String) throws(InterchangeFailure) -> Int64? {
    switch self[name] {
    case nil, .null, .string(""): return nil
    case .integer(let number): return number
    case .string(let text):
      guard let number: Int64 = InterchangeText.number(text) else { fallthrough }
      return number
    default: throw .json(.wrongType(member: name, expected: .integer))
    }
  }

  /// Returns an object member; an empty object if it is missing or null.
  func entryObject(_ name: String) throws(InterchangeFailure) -> JSONObject {
    switch self[name] {
    case nil, .null: return JSONObject()
    case .object(let object): return object
    default: throw .json(.wrongType(member: name, expected: .object))
    }
  }

  /// Returns the kind of codes from the usual members: a type, and a period or a counter.
  func entryKind(
    _ type: String?, period: String, counter: String
  ) throws(InterchangeFailure) -> OTPAccount.Kind {
    switch InterchangeText.lowercased(type ?? "totp") {
    case "totp": return .totp(period: Int(clamping: try entryNumber(period) ?? 30))
    case "hotp":
      guard let value = UInt64(exactly: try entryNumber(counter) ?? 0) else {
        throw .invalid(counter, reason: "is below zero")
      }
      return .hotp(counter: value)
    default: throw .unsupportedType(String((type ?? "").prefix(40)))
    }
  }

  /// Decodes a Base32 secret.
  func entrySecret(_ name: String = "secret") throws(InterchangeFailure) -> SharedSecretBox {
    guard let text = try entryText(name), !text.isEmpty else { throw .missing("secret") }
    return try InterchangeText.secret(text)
  }

  /// Returns the hash function; SHA-1 if none is named.
  func entryAlgorithm(_ name: String) throws(InterchangeFailure) -> OATHAlgorithm {
    guard let text = try entryText(name), !text.isEmpty else { return .sha1 }
    return try InterchangeText.algorithm(text)
  }

  /// Returns the length of a code; 6 if the member is missing.
  func entryDigits(_ name: String = "digits") throws(InterchangeFailure) -> Int {
    Int(clamping: try entryNumber(name) ?? 6)
  }
}

extension OTPAccount {
  /// Returns the counter as a signed 64-bit number; throws for codes that no JSON format can represent.
  func jsonCounter(_ format: InterchangeFormat) throws(InterchangeFailure) -> Int64? {
    try requireCommonCodes(format)
    guard case .hotp(let counter) = kind else { return nil }
    guard let number = Int64(exactly: counter) else {
      throw .notRepresentable(format, reason: "so high a counter")
    }
    return number
  }

  /// Returns the period; throws if the first period does not begin at 1970-01-01T00:00:00Z.
  func jsonPeriod(_ format: InterchangeFormat) throws(InterchangeFailure) -> Int64? {
    guard case .totp(let period, let start) = kind else { return nil }
    guard start == 0 else { throw .notRepresentable(format, reason: "when the first period began (T0)") }
    return Int64(period)
  }
}

extension JSONValue {
  /// Returns an entry of a file, which must be an object.
  func entry() throws(InterchangeFailure) -> JSONObject {
    guard case .object(let object) = self else { throw .json(.notAnObject) }
    return object
  }

  /// Returns the title under which a skipped entry is reported; empty if the entry has none.
  func entryTitle(_ first: String, _ second: String) -> String {
    guard case .object(let object) = self else { return "" }
    var parts: [String] = []
    for name in first == second ? [first] : [first, second] {
      if case .string(let text)? = object[name], !text.isEmpty { parts.append(String(text.prefix(200))) }
    }
    return parts.count == 2 ? "\(parts[0]) (\(parts[1]))" : parts.first ?? ""
  }
}

extension OTPAccount.Kind {
  /// The member that carries the period or the counter.
  var parameter: String {
    switch self {
    case .hotp, .ocra: "counter"
    case .totp: "period"
    }
  }
}
