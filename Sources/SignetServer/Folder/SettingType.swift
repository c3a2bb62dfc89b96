import SignetJSON

/// What a setting can be: how it stands in JSON, which values are allowed, and what is said of others.
struct SettingType<Value: Hashable & Sendable>: Sendable {
  /// Type and range as JSON Schema.
  let schema: JSONObject
  /// Reads a value; `place` names the setting in messages.
  let read: @Sendable (JSONValue, _ place: String) throws -> Value
  let json: @Sendable (Value) -> JSONValue
}

extension SettingType {
  /// A type of single values.
  ///
  /// - Parameters:
  ///   - schema: Type and range.
  ///   - allowed: The same for people, after "is".
  ///   - isSecret: Whether no message shows what was found.
  ///   - read: The value, `nil` where it is not allowed; an error says why not.
  ///   - json: How it is written.
  init(
    _ schema: JSONObject, _ allowed: String, isSecret: Bool = false,
    read: @escaping @Sendable (JSONValue) throws -> Value?, json: @escaping @Sendable (Value) -> JSONValue
  ) {
    self.init(
      schema: schema,
      read: { value, place in
        let found: Value?
        do { found = try read(value) } catch { throw FolderSettings.Refusal.reason("\(place): \(error)") }
        guard let found else { throw Self.refusal(of: isSecret ? nil : value, place, allowed) }
        return found
      }, json: json)
  }

  private static func refusal(
    of value: JSONValue?, _ place: String, _ allowed: String
  ) -> FolderSettings.Refusal {
    let found: String? =
      switch value {
      case nil: nil
      case .array: "a list"
      case .object: "an object"
      case let value?: value.text.count > 40 ? "\(value.text.prefix(40))…" : value.text
      }
    return .reason("\(place) is \(allowed)" + (found.map { ", not \($0)" } ?? ""))
  }

  static func object(_ value: JSONValue, _ place: String) throws -> JSONObject {
    guard case .object(let object) = value else { throw refusal(of: value, place, "an object") }
    return object
  }

  /// What an object of another document says.
  static func object(
    _ allowed: String, read: @escaping @Sendable (JSONObject) throws -> Value,
    json: @escaping @Sendable (Value) -> JSONObject
  ) -> Self {
    Self(["type": "object", "x-values": .string(allowed)], "an object") {
      guard case .object(let object) = $0 else { return nil }
      return try read(object)
    } json: {
      .object(json($0))
    }
  }

  /// A value that stands as a text; `pattern` is what JSON Schema can say of it.
  static func text(
    _ allowed: String, pattern: String? = nil, isSecret: Bool = false,
    read: @escaping @Sendable (String) throws -> Value?, text: @escaping @Sendable (Value) -> String
  ) -> Self {
    var schema: JSONObject = ["type": "string", "x-values": .string(allowed)]
    schema["pattern"] = pattern.map { .string($0) }
    return Self(schema, allowed, isSecret: isSecret) {
      guard case .string(let text) = $0 else { return nil }
      return try read(text)
    } json: {
      .string(text($0))
    }
  }

  /// One of some words, each with what it means.
  static func words(_ words: [(word: String, value: Value)]) -> Self {
    let texts = words.map { JSONValue.string($0.word) }
    return Self(["enum": .array(texts)], "one of \(texts.map(\.text).joined(separator: ", "))") { found in
      words.first { found == .string($0.word) }?.value
    } json: { value in
      words.first { $0.value == value }.map { .string($0.word) } ?? .null
    }
  }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
  /// The raw value of one of the cases.
  static var word: Self { words(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension SettingType where Value: FixedWidthInteger {
  /// A whole number within a range.
  static func integer(_ range: ClosedRange<Int64>, _ unit: String? = nil) -> Self {
    var schema: JSONObject = [
      "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
    ]
    schema["x-unit"] = unit.map { .string($0) }
    let allowed = "\(range.lowerBound) to \(range.upperBound)" + (unit.map { " \($0)" } ?? "")
    return Self(schema, allowed) {
      guard case .integer(let number) = $0, range.contains(number) else { return nil }
      return Value(exactly: number)
    } json: {
      .integer(Int64($0))
    }
  }

  static func seconds(_ range: ClosedRange<Int64>) -> Self { integer(range, "seconds") }
}

extension SettingType<Double> {
  /// A number from 0 to 1.
  static let share = Self(["type": "number", "minimum": 0, "maximum": 1], "a number from 0 to 1") {
    let number: Double
    switch $0 {
    case .integer(let whole): number = Double(whole)
    case .number(let fraction): number = fraction
    default: return nil
    }
    return (0...1).contains(number) ? number : nil
  } json: {
    .number($0)
  }
}

extension SettingType<Bool> {
  /// `true` or `false`.
  static let bool = Self(["type": "boolean"], "true or false") {
    guard case .bool(let truth) = $0 else { return nil }
    return truth
  } json: {
    .bool($0)
  }
}

extension SettingType<String> {
  /// A text that meets a condition.
  static func text(
    _ allowed: String, pattern: String? = nil, isSecret: Bool = false,
    where isAllowed: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Self {
    text(allowed, pattern: pattern, isSecret: isSecret, read: { isAllowed($0) ? $0 : nil }, text: { $0 })
  }

  /// A file of the folder, or one elsewhere.
  static let file = text(
    "a name within the folder or a full path", pattern: #"^(/|[^/]+$)"#, where: FolderSettings.mayNameFile)
}

extension SettingType {
  /// A list without an order, written in the order of its elements' texts.
  static func set<Element>(
    of type: SettingType<Element>, upTo limit: Int? = nil
  ) -> Self where Value == Set<Element> {
    let list = SettingType<[Element]>.list(of: type, upTo: limit)
    return Self(
      schema: list.schema, read: { Set(try list.read($0, $1)) },
      json: { .array($0.map(type.json).sorted { $0.text < $1.text }) })
  }

  /// A list whose elements are all of one type.
  static func list<Element>(
    of type: SettingType<Element>, from least: Int = 0, upTo limit: Int? = nil
  ) -> Self where Value == [Element] {
    var schema: JSONObject = ["type": "array", "items": .object(type.schema)]
    if least > 0 { schema["minItems"] = .integer(Int64(least)) }
    schema["maxItems"] = limit.map { .integer(Int64($0)) }
    return Self(
      schema: schema,
      read: { value, place in
        guard case .array(let elements) = value else { throw refusal(of: value, place, "a list") }
        try check(elements.count, least...(limit ?? .max), place)
        return try elements.map { try type.read($0, "an element of \(place)") }
      }, json: { .array($0.map(type.json)) })
  }

  private static func check(_ count: Int, _ range: ClosedRange<Int>, _ place: String) throws {
    guard count < range.lowerBound || count > range.upperBound else { return }
    let bound = count < range.lowerBound ? "at least \(range.lowerBound)" : "at most \(range.upperBound)"
    throw FolderSettings.Refusal.reason("\(place) has \(bound) members, not \(count)")
  }

  /// An object with any names whose values are all of one type; `complaint` says what is wrong with a name.
  static func map<Element>(
    to type: SettingType<Element>, upTo limit: Int? = nil,
    refusing complaint: @escaping @Sendable (String) -> String? = { _ in nil }
  ) -> Self where Value == [String: Element] {
    var schema: JSONObject = ["type": "object", "additionalProperties": .object(type.schema)]
    schema["maxProperties"] = limit.map { .integer(Int64($0)) }
    return Self(
      schema: schema,
      read: { value, place in
        let members = try object(value, place).members
        try check(members.count, 0...(limit ?? .max), place)
        return try members.reduce(into: [:]) { map, member in
          let location = "\"\(member.name.prefix(40))\" in \(place)"
          if let complaint = complaint(member.name) {
            throw FolderSettings.Refusal.reason("\(location) \(complaint)")
          }
          map[member.name] = try type.read(member.value, location)
        }
      },
      json: { map in
        .object(
          map.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = type.json($1.value) })
      })
  }
}
