import SignetCrypto
import SignetJSON

/// The members of JSON that have no meaning here: taken along, and put back where they came from.
struct ForeignMembers {
  let format: InterchangeFormat
  private(set) var members: [ForeignMember] = []

  init(_ format: InterchangeFormat) { self.format = format }

  /// The ones of an account that came from this format.
  init(_ format: InterchangeFormat, of account: OTPAccount) {
    self.format = format
    members = account.foreign.filter { $0.format == format }
  }

  /// Takes along all members but those that are known.
  mutating func take(from object: JSONObject, inside parent: String? = nil, except known: Set<String>) {
    for member in object.members where !known.contains(member.name) {
      let name = parent.map { "\($0).\(member.name)" } ?? member.name
      members.append(ForeignMember(format: format, name: name, value: member.value.text))
    }
  }

  /// The value of a member.
  subscript(name: String) -> JSONValue? {
    guard let member = members.first(where: { $0.name == name }) else { return nil }
    do { return try JSONValue(parsing: member.value, limits: AccountFile.limits) } catch { return nil }
  }

  /// Puts members back into an object that does not have them.
  ///
  /// - Parameters:
  ///   - object: What is written.
  ///   - parent: The member that the object is the value of; `nil` for an entry itself.
  ///   - others: The members whose own members are elsewhere.
  func put(into object: inout JSONObject, inside parent: String? = nil, except others: Set<String> = []) {
    for member in members {
      var name = Substring(member.name)
      if let parent {
        guard name.hasPrefix("\(parent).") else { continue }
        name = name.dropFirst(parent.count + 1)
      } else if others.contains(where: { name.hasPrefix("\($0).") || name == $0 }) {
        continue
      }
      if !object.contains(String(name)), let value = self[member.name] { object.set(String(name), value) }
    }
  }
}

extension JSONObject {
  /// A member that is a text; absent where it is missing or null.
  func entryText(_ name: String) throws(InterchangeFailure) -> String? {
    switch self[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw .json(.wrongType(member: name, expected: .string))
    }
  }

  /// A member that is a whole number, or a text that is one; absent where it is missing, null or an empty text.
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

  /// A member that is an object; an empty one where it is missing or null.
  func entryObject(_ name: String) throws(InterchangeFailure) -> JSONObject {
    switch self[name] {
    case nil, .null: return JSONObject()
    case .object(let object): return object
    default: throw .json(.wrongType(member: name, expected: .object))
    }
  }

  /// What a code is made from, as most files say it: a type, and a period or a counter.
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

  /// A secret in Base32.
  func entrySecret(_ name: String = "secret") throws(InterchangeFailure) -> SharedSecretBox {
    guard let text = try entryText(name), !text.isEmpty else { throw .missing("secret") }
    return try InterchangeText.secret(text)
  }

  /// A hash function; SHA-1 where none is named.
  func entryAlgorithm(_ name: String) throws(InterchangeFailure) -> OATHAlgorithm {
    guard let text = try entryText(name), !text.isEmpty else { return .sha1 }
    return try InterchangeText.algorithm(text)
  }

  /// The length of a code; 6 where none is said.
  func entryDigits(_ name: String = "digits") throws(InterchangeFailure) -> Int {
    Int(clamping: try entryNumber(name) ?? 6)
  }
}

extension OTPAccount {
  /// The counter as a number that JSON can hold everywhere; refused are codes that no file in JSON can say.
  func jsonCounter(_ format: InterchangeFormat) throws(InterchangeFailure) -> Int64? {
    try requireCommonCodes(format)
    guard case .hotp(let counter) = kind else { return nil }
    guard let number = Int64(exactly: counter) else {
      throw .notRepresentable(format, reason: "so high a counter")
    }
    return number
  }

  /// The period, where it begins with 1970.
  func jsonPeriod(_ format: InterchangeFormat) throws(InterchangeFailure) -> Int64? {
    guard case .totp(let period, let start) = kind else { return nil }
    guard start == 0 else { throw .notRepresentable(format, reason: "when the first period began (T0)") }
    return Int64(period)
  }
}

extension JSONValue {
  /// An entry of a file, which must be an object.
  func entry() throws(InterchangeFailure) -> JSONObject {
    guard case .object(let object) = self else { throw .json(.notAnObject) }
    return object
  }

  /// What an entry is called, for people who are told that it was skipped; empty where it does not say.
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
  /// The member that says it beside the type.
  var parameter: String {
    switch self {
    case .hotp, .ocra: "counter"
    case .totp: "period"
    }
  }
}
