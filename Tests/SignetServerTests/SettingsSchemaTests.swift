import Foundation
import SignetDataDirectory
import SignetJSON
import SignetServer
import SignetTestKit
import Testing

/// `server.json` by its schema: the parser follows the schema.
@Suite struct SettingsSchemaTests {
  /// A setting without inner settings.
  struct Leaf: Sendable, CustomTestStringConvertible {
    let path: [String]
    let schema: JSONObject
    let isRequired: Bool

    /// The name in messages.
    var testDescription: String { path.joined(separator: ".") }
    /// Indicates whether it must be less than another setting, which a schema cannot express.
    var isBounded: Bool { path[0] == "connections" && path[1].hasPrefix("waiting") }
  }

  /// A name that a member of any kind of map can have.
  private static let anyName = "hook"

  private static func collect(_ schema: JSONObject, at path: [String] = []) throws -> [Leaf] {
    let required = try schema.optionalStrings("required") ?? []
    return try schema.object("properties").members.flatMap { name, value -> [Leaf] in
      guard case .object(let member) = value else { return [] }
      let inner = path + [name]
      if member.contains("properties") { return try collect(member, at: inner) }
      if case .object(let element)? = member["additionalProperties"] {
        guard !element.contains("properties") else { return try collect(element, at: inner + [anyName]) }
        return [Leaf(path: inner + [anyName], schema: element, isRequired: false)]
      }
      return [Leaf(path: inner, schema: member, isRequired: required.contains(name))]
    }
  }

  static let leaves: [Leaf] = {
    do { return try collect(ServerConfigurationFile.jsonSchema) } catch { return [] }
  }()

  private static let numbers = leaves.filter { $0.schema.contains("minimum") && $0.path != ["format"] }

  /// Settings with every possible object.
  private static let full: JSONObject = {
    let text = """
      {"format":1,"url":"id.example.org/bank","listen":{"address":"::","port":443},
       "profile":{"protection":{"type":"device"},
         "otp":{"label":"otp","type":"totp","algorithm":"SHA256","digits":6,"period":30}},
       "tls":{"certificate":"tls.pem","key":"tls.key"},
       "connections":{"total":100000,"perAddress":100000},
       "push":{"apns":{"key":"a.p8","keyID":"K","teamID":"T","topic":"t"},"fcm":{"account":"f.json"},
         "webPush":{"key":"w.pem","contact":"mailto:a@example.org"},
         "webhook":{"url":"https://gateway.example/push","key":"h.pem","keyID":"k"}},
       "requirements":{"hook":{"userVerification":true,"contentSigned":true}},
       "uaf":{"facets":["https://example.org"],"policies":{"hook":{"accepted":[[{"aaid":["7357#0001"]}]]}}},
       "masterKeyCheck":"AAAAAAAAAAAAAAAAAAAAAA"}
      """
    do { return try JSONObject(parsing: Array(text.utf8)) } catch { return [:] }
  }()

  private static func setting(
    _ value: JSONValue?, at path: ArraySlice<String>, of object: JSONObject
  ) -> JSONObject {
    var object = object
    guard let name = path.first else { return object }
    guard path.count > 1 else {
      object[name] = value
      return object
    }
    var inner = JSONObject()
    if case .object(let present)? = object[name] { inner = present }
    object[name] = .object(setting(value, at: path.dropFirst(), of: inner))
    return object
  }

  private static func settings(_ value: JSONValue?, at leaf: Leaf) -> JSONObject {
    setting(value, at: leaf.path[...], of: full)
  }

  private func refusal(of object: JSONObject) -> String? {
    do throws(ServerConfigurationFile.Refusal) {
      _ = try ServerConfigurationFile(parsing: object.bytes)
      return nil
    } catch {
      guard case .reason(let reason) = error else { return "too new" }
      return reason
    }
  }

  private func read(_ object: JSONObject) throws -> ServerConfigurationFile {
    try ServerConfigurationFile(parsing: object.bytes)
  }

  // MARK: Ranges and types

  @Test("a number is accepted at both limits of its range, and refused outside", arguments: numbers)
  func ranges(_ leaf: Leaf) throws {
    let isWhole = try leaf.schema.string("type") == "integer"
    let (least, most) = (try leaf.schema.number("minimum"), try leaf.schema.number("maximum"))
    func value(_ number: Double) -> JSONValue { isWhole ? .integer(Int64(number)) : .number(number) }
    #expect(refusal(of: Self.settings(value(least), at: leaf)) == nil)
    if !leaf.isBounded { #expect(refusal(of: Self.settings(value(most), at: leaf)) == nil) }
    for number in [least - (isWhole ? 1 : 0.5), most + (isWhole ? 1 : 0.5)] {
      let reason = try #require(refusal(of: Self.settings(value(number), at: leaf)))
      #expect(
        reason.hasPrefix("\"\(leaf.testDescription)\" must be \(Int(least)) to \(Int(most))")
          && reason.hasSuffix("; found \(value(number).text)"), "\(reason)")
    }
  }

  @Test("a value of a wrong type is refused with the allowed and the found type", arguments: leaves)
  func types(_ leaf: Leaf) throws {
    let type: String
    if case .string(let name)? = leaf.schema["type"] { type = name } else { type = "string" }
    let others: [(value: JSONValue, type: String, found: String)] = [
      (.null, "null", "null"), (true, "boolean", "true"), (7.5, "number", "7.5"),
      ("", "string", type == "object" ? "a text" : "\"\""),
      ([], "array", "a list of 0 elements"), ([:], "object", "an object"),
    ]
    for (value, other, found) in others where other != type {
      let reason = try #require(refusal(of: Self.settings(value, at: leaf)), "\(found)")
      guard leaf.path != ["format"] else { continue }
      #expect(reason.contains("\"\(leaf.testDescription)\" "), "\(reason)")
      // A URL of a push service can have a password.
      let isSecret =
        [["database", "server"], ["masterKeyCheck"]].contains(leaf.path)
        || leaf.path.first == "push" && leaf.path.last == "url"
      #expect(reason.hasSuffix("; found \(found)") == !isSecret, "\(reason)")
    }
  }

  @Test(
    "the reader and the schema accept the same values",
    arguments: leaves)
  func agree(_ leaf: Leaf) throws {
    var values: [JSONValue] = [
      .null, true, false, "", "x", "/x", -1, 0, 1, 2, 1.5, [], ["x"], ["uaf"], ["https://example.org"], [:],
      "https://x.example", "postgres://x", "127.0.0.1", .array(.init(repeating: "::1", count: 65)),
    ]
    for name in ["minimum", "maximum"] {
      guard case .integer(let end)? = leaf.schema[name] else { continue }
      values += [.integer(end - 1), .integer(end), .integer(end + 1)]
    }
    if case .array(let words)? = leaf.schema["enum"] { values += words }
    let isComplete =
      leaf.schema.contains("enum") || leaf.schema.contains("minimum")
      || leaf.schema["type"] == "boolean"
    for value in values {
      let object = Self.settings(value, at: leaf)
      let (isRead, isValid) = (refusal(of: object) == nil, try Schema.accepts(.object(object)))
      #expect(isValid || !isRead, "\(value.text)")
      if isComplete, !leaf.isBounded { #expect(isRead == isValid, "\(value.text)") }
    }
  }

  // MARK: Keys

  @Test("an unknown key is refused with the known one that is nearest", arguments: leaves)
  func unknown(_ leaf: Leaf) throws {
    guard leaf.path.last != Self.anyName, leaf.path != ["format"] else { return }
    let name = try #require(leaf.path.last)
    let wrong = leaf.path.dropLast() + ["\(name)x"]
    let place = leaf.path.dropLast().map { "\($0)." }.joined()
    #expect(
      refusal(of: Self.setting(1, at: wrong, of: Self.full))
        == "\"\(place)\(name)x\" is not known here; did you mean \"\(name)\"?")
    let far = leaf.path.dropLast() + ["zzzzzzzzzzzz"]
    #expect(
      refusal(of: Self.setting(1, at: far, of: Self.full))
        == "\"\(place)zzzzzzzzzzzz\" is not known here; remove it or correct its name")
  }

  @Test("a missing required key is named", arguments: leaves.filter { $0.isRequired })
  func missing(_ leaf: Leaf) throws {
    let reason = try #require(refusal(of: Self.settings(nil, at: leaf)))
    #expect(reason.hasSuffix("\"\(leaf.testDescription)\" is missing; add it"))
    #expect(try !Schema.accepts(.object(Self.settings(nil, at: leaf))))
  }

  @Test("neither a password in the address of a database nor the rest of a long text is in a message")
  func secrets() throws {
    let reason = try #require(
      refusal(of: Self.setting("mysql://a:hunter2@b", at: ["database", "server"], of: Self.full)))
    #expect(!reason.contains("hunter2") && reason.contains("postgres://"))
    // A URL in place of an object is not printed either.
    for path in [["database"], ["push"], ["push", "webhook"], ["push", "apns"]] {
      let refused = try #require(
        refusal(of: Self.setting("https://a:hunter2@b", at: path[...], of: Self.full)))
      #expect(!refused.contains("hunter2") && refused.hasSuffix("; found a text"), "\(refused)")
    }
    let long = JSONValue.string(String(repeating: "y", count: 1000))
    let other = try #require(refusal(of: Self.setting(long, at: ["devices", "keystore"], of: Self.full)))
    #expect(other.hasSuffix("yyy…") && other.count < 200)
  }

  // MARK: Defaults and printing

  @Test("a default equals the omitted setting, and is not written", arguments: leaves)
  func defaults(_ leaf: Leaf) throws {
    guard let value = leaf.schema["default"] else { return }
    let without = try read(Self.settings(nil, at: leaf))
    let with = try read(Self.settings(value, at: leaf))
    #expect(with == without)
    var printed = JSONValue.object(with.json)
    for name in leaf.path {
      guard case .object(let object) = printed, let member = object[name] else { return }
      printed = member
    }
    Issue.record("\(leaf.testDescription) is written: \(printed.text)")
  }

  @Test("random settings survive a round trip")
  func roundTrip() throws {
    var random = SplitMix64(seed: 209)
    #expect(Self.leaves.count > 60)
    for _ in 0..<300 {
      var object = Self.full
      for leaf in Self.leaves where leaf.path != ["format"] && Bool.random(using: &random) {
        object = Self.setting(try sample(leaf, &random), at: leaf.path[...], of: object)
      }
      // A requirement has to demand something, so this one always does.
      object = Self.setting(true, at: ["requirements", Self.anyName, "contentSigned"], of: object)
      let settings = try read(object)
      let printed = settings.json
      #expect(try read(printed) == settings, "\(object.text)")
      #expect(try read(printed).json == printed)
      #expect(try Schema.accepts(.object(printed)), "\(printed.text)")
    }
  }

  private func sample(_ leaf: Leaf, _ random: inout SplitMix64) throws -> JSONValue? {
    if leaf.isBounded { return 0 }
    switch leaf.path {
    case ["profile"], ["uaf", "policies", Self.anyName]: return try Self.present(leaf)
    case ["uaf", "requirements", Self.anyName]: return "phrh"
    default: return try sample(leaf.schema, &random)
    }
  }

  private static func present(_ leaf: Leaf) throws -> JSONValue? {
    var value = JSONValue.object(full)
    for name in leaf.path {
      guard case .object(let object) = value else { return nil }
      value = try object.value(name)
    }
    return value
  }

  private func sample(_ schema: JSONObject, _ random: inout SplitMix64) throws -> JSONValue {
    if case .array(let words)? = schema["enum"] {
      return try #require(words.randomElement(using: &random))
    }
    switch try schema.string("type") {
    case "boolean": return .bool(.random(using: &random))
    case "integer":
      let (least, most) = (try schema.integer("minimum"), try schema.integer("maximum"))
      return .integer(.random(in: least...most, using: &random))
    case "number": return .number(.random(in: 0...1, using: &random))
    case "array":
      let item = try schema.object("items")
      return .array(try (0..<Int.random(in: 1...3, using: &random)).map { _ in try sample(item, &random) })
    default:
      let values = try schema.string("x-values")
      return .string(try #require(Self.texts[values]?.randomElement(using: &random), "\(values)"))
    }
  }

  /// Valid texts for each kind of text setting.
  private static let texts = [
    "HOST[:PORT]/DOMAIN": ["localhost:8443/main", "id.example.org/bank", "[::1]:8443/main"],
    "a numeric address": ["192.0.2.7", "::1", "2001:db8::1"],
    "a name within the folder or a full path": ["a.pem", "/etc/signet/b.pem"],
    "a name, such as release": ["release", "beta"],
    "a URI that begins with postgres:// or postgresql://": ["postgres://h/a", "postgresql://h/b"],
    "the full path of a folder in memory": ["/run/signet/bank"],
    "as `init` wrote it": ["AAAAAAAAAAAAAAAAAAAAAA", "AQEBAQEBAQEBAQEBAQEBAQ"],
    "1 to 256 visible ASCII characters, no quotes and backslashes": ["K", "org.example.app"],
    "an https URL without a slash at its end": ["https://a.example", "https://b.example/push"],
    "a mailto: or https: URL": ["mailto:a@example.org", "https://example.org/contact"],
    "a host": ["push.example.org", "*.example.org:8443"],
    "an app's id or an https origin": ["ios:bundle-id:org.example.app", "https://example.org"],
    "an https URL of at most 512 bytes": ["https://uaf.example.org/facets"],
    "a path of letters, digits, - and _, at most 128 bytes, such as /nevisfido": ["/a/b", "/nevisfido"],
    "a URL without query and fragment, at most 512 bytes": ["signet://open", "https://link"],
  ]
}

/// The part of JSON Schema that the settings' schema uses.
private enum Schema {
  static func accepts(_ value: JSONValue) throws -> Bool {
    try accepts(value, .object(ServerConfigurationFile.jsonSchema))
  }

  private static func accepts(_ value: JSONValue, _ rule: JSONValue) throws -> Bool {
    guard case .object(let schema) = rule else { return rule == true }
    if case .array(let words)? = schema["enum"] { return words.contains(value) }
    switch (try schema.string("type"), value) {
    case ("boolean", .bool): return true
    case ("integer", .integer(let number)):
      return try (schema.integer("minimum")...schema.integer("maximum")).contains(number)
    case ("number", .integer(let number)):
      return try (schema.number("minimum")...schema.number("maximum")).contains(Double(number))
    case ("number", .number(let number)):
      return try (schema.number("minimum")...schema.number("maximum")).contains(number)
    case ("string", .string(let text)):
      guard let pattern = try schema.optionalString("pattern") else { return true }
      return text.range(of: pattern, options: .regularExpression) != nil
    case ("array", .array(let elements)):
      let (least, most) = (try schema.optionalInteger("minItems"), try schema.optionalInteger("maxItems"))
      guard elements.count >= least ?? 0, elements.count <= most ?? .max else { return false }
      let item = try schema.value("items")
      return try elements.allSatisfy { try accepts($0, item) }
    case ("object", .object(let object)):
      let known = try schema.optionalObject("properties") ?? [:]
      guard try (schema.optionalStrings("required") ?? []).allSatisfy(object.contains),
        try object.count <= schema.optionalInteger("maxProperties") ?? .max
      else { return false }
      return try object.members.allSatisfy { name, value in
        try accepts(value, known[name] ?? schema["additionalProperties"] ?? true)
      }
    default: return false
    }
  }
}
