package import SignetJSON
package import SignetWire

/// Why a value does not fit its shape.
package enum ShapeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A text is too short or too long.
  case length(member: String, limits: String)
  /// A number is too small or too large.
  case number(member: String, limits: String)
  /// A list has too few or too many elements.
  case count(member: String, limits: String)
  /// A text is none of those that are allowed.
  case choice(member: String, allowed: [String])

  /// What is wrong and where, for the sender.
  package var description: String {
    switch self {
    case .length(let member, let limits): "\"\(member)\" is a text of \(limits) characters"
    case .number(let member, let limits): "\"\(member)\" is \(limits)"
    case .count(let member, let limits): "\"\(member)\" is a list of \(limits) elements"
    case .choice(let member, let allowed) where allowed.count == 2:
      "\"\(member)\" is neither \"\(allowed[0])\" nor \"\(allowed[1])\""
    case .choice(let member, let allowed):
      "\"\(member)\" is one of " + allowed.map { "\"\($0)\"" }.joined(separator: ", ")
    }
  }
}

/// Reads a value from JSON, writes it to JSON, and describes it.
package struct Shape<Value: Sendable>: Sendable {
  /// What the description says.
  package let schema: JSONSchema
  /// Reads the value of a member, named by its path in the message for what is wrong with it.
  package let read: @Sendable (JSONValue, _ member: String) throws -> Value
  /// Writes a value.
  package let write: @Sendable (Value) -> JSONValue

  /// A shape of its parts.
  package init(
    schema: JSONSchema, read: @escaping @Sendable (JSONValue, _ member: String) throws -> Value,
    write: @escaping @Sendable (Value) -> JSONValue
  ) {
    (self.schema, self.read, self.write) = (schema, read, write)
  }

  /// This shape with a name, under which the description has it once.
  func named(_ name: String) -> Shape {
    Shape(schema: schema.named(name), read: read, write: write)
  }
}

/// A type with one shape.
package protocol Shaped: Sendable {
  /// How its values look in JSON.
  static var shape: Shape<Self> { get }
}

extension Shape where Value == String {
  /// A text of so many code points; what the server writes matches the pattern, which nothing that is read is compared with.
  package static func text(_ limits: (any Limits)? = nil, pattern: String? = nil) -> Shape {
    var schema = JSONSchema(["type": "string"])
    if let limits { schema = schema.adding(limits.keywords("minLength", "maxLength")) }
    if let pattern { schema = schema.adding(["pattern": .string(pattern)]) }
    return Shape(schema: schema) { value, member in
      let text = try anyText(value, member)
      if let limits, !limits.contains(Int64(text.unicodeScalars.count)) {
        throw ShapeFailure.length(member: member, limits: limits.text)
      }
      return text
    } write: {
      .string($0)
    }
  }

  /// Reads a text of any length, for shapes that read more from it: no schema is put together for that.
  static func anyText(_ value: JSONValue, _ member: String) throws -> String {
    guard case .string(let text) = value else {
      throw JSONFailure.wrongType(member: member, expected: .string)
    }
    return text
  }

  /// A text whose number of code points has both limits.
  package static func text(_ limits: ClosedRange<Int64>) -> Shape { text(limits as any Limits) }

  /// A text of at least so many code points.
  package static func text(_ limits: PartialRangeFrom<Int64>) -> Shape { text(limits as any Limits) }

  /// A text of at most so many code points.
  package static func text(_ limits: PartialRangeThrough<Int64>) -> Shape { text(limits as any Limits) }

  /// One of some texts.
  package static func oneOf(_ allowed: String...) -> Shape { oneOf(allowed) }

  /// One of some texts, compared byte for byte.
  package static func oneOf(_ allowed: [String]) -> Shape {
    Shape(schema: JSONSchema(["type": "string", "enum": .array(allowed.map { .string($0) })])) {
      value, member in
      let text = try anyText(value, member)
      guard allowed.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
        throw ShapeFailure.choice(member: member, allowed: allowed)
      }
      return text
    } write: {
      .string($0)
    }
  }
}

extension Shape where Value: FixedWidthInteger {
  /// A whole number; schema and messages name its unit.
  package static func integer(_ limits: (any Limits)?, unit: String? = nil) -> Shape {
    var schema = JSONSchema(["type": "integer"])
    if let limits { schema = schema.adding(limits.keywords("minimum", "maximum")) }
    if let unit { schema = schema.adding(["x-unit": .string(unit)]) }
    return Shape(schema: schema) { value, member in
      let wrongType = JSONFailure.wrongType(member: member, expected: .integer)
      guard case .integer(let whole) = value else { throw wrongType }
      if let limits, !limits.contains(whole) {
        throw ShapeFailure.number(member: member, limits: limits.text + (unit.map { " \($0)" } ?? ""))
      }
      guard let number = Value(exactly: whole) else { throw wrongType }
      return number
    } write: {
      .integer(Int64($0))
    }
  }

  /// A whole number between limits that it may have.
  package static func integer(_ limits: ClosedRange<Int64>) -> Shape { integer(limits as any Limits) }

  /// A whole number that is not less than a limit.
  package static func integer(_ limits: PartialRangeFrom<Int64>) -> Shape { integer(limits as any Limits) }
}

extension Shape where Value == Int64 {
  /// Whole seconds since 1970.
  static let time = Shape.integer(nil).adding(["description": "Whole seconds since 1970-01-01T00:00:00Z."])
    .named("Time")
}

extension Shape where Value: Shaped {
  /// This shape for a value of a row, which was checked when it was written.
  ///
  /// Its limits are described and not checked by who reads it: a list with a row that somebody else has altered is still read.
  var ofRow: Shape { Shape(schema: schema, read: Value.shape.read, write: write) }
}

extension Shape {
  /// This shape with further keywords in its schema.
  package func adding(_ keywords: JSONObject) -> Shape {
    Shape(schema: schema.adding(keywords), read: read, write: write)
  }

  /// A list of values.
  package static func list<Element: Sendable>(
    _ element: Shape<Element>, _ limits: (any Limits)? = nil
  ) -> Shape where Value == [Element] {
    var schema = JSONSchema(
      ["type": "array", "items": .object(element.schema.json)], definitions: element.schema.definitions)
    if let limits { schema = schema.adding(limits.keywords("minItems", "maxItems")) }
    return Shape(schema: schema) { value, member in
      guard case .array(let elements) = value else {
        throw JSONFailure.wrongType(member: member, expected: .array)
      }
      if let limits, !limits.contains(Int64(elements.count)) {
        throw ShapeFailure.count(member: member, limits: limits.text)
      }
      return try elements.enumerated().map { try element.read($1, "\(member)[\($0)]") }
    } write: { values in
      .array(values.map(element.write))
    }
  }

  /// A list whose number of elements, each in the shape of its type, has both limits.
  package static func list<Element: Shaped>(_ limits: ClosedRange<Int64>) -> Shape where Value == [Element] {
    list(Element.shape, limits)
  }

  /// A list of at least so many elements, each in the shape of its type.
  package static func list<Element: Shaped>(_ limits: PartialRangeFrom<Int64>) -> Shape
  where Value == [Element] {
    list(Element.shape, limits)
  }
}

extension Shape where Value == JSONObject {
  /// An object whose members the API does not define.
  package static func object(_ schema: JSONSchema = JSONSchema(["type": "object"])) -> Shape {
    Shape(schema: schema) { value, member in
      guard case .object(let object) = value else {
        throw JSONFailure.wrongType(member: member, expected: .object)
      }
      return object
    } write: {
      .object($0)
    }
  }
}

extension String: Shaped {
  package static var shape: Shape<String> { .text() }
}

extension Int64: Shaped {
  package static var shape: Shape<Int64> { .integer(nil) }
}

extension Bool: Shaped {
  package static var shape: Shape<Bool> {
    Shape(schema: JSONSchema(["type": "boolean"])) { value, member in
      guard case .bool(let truth) = value else {
        throw JSONFailure.wrongType(member: member, expected: .bool)
      }
      return truth
    } write: {
      .bool($0)
    }
  }
}

extension JSONObject: Shaped {
  package static var shape: Shape<JSONObject> { .object() }
}

extension Array: Shaped where Element: Shaped {
  package static var shape: Shape<[Element]> { .list(Element.shape) }
}

extension Shaped where Self: RawRepresentable & CaseIterable, RawValue == String {
  package static var shape: Shape<Self> { oneOfAll }

  /// One of the cases, by its name.
  package static var oneOfAll: Shape<Self> {
    let text = Shape<String>.oneOf(allCases.map(\.rawValue))
    return Shape(schema: text.schema) { value, member in
      guard let found = Self(rawValue: try text.read(value, member)) else {
        throw ShapeFailure.choice(member: member, allowed: allCases.map(\.rawValue))
      }
      return found
    } write: {
      .string($0.rawValue)
    }
  }
}

extension JSONValue {
  /// An identifier.
  static func id(_ id: ID<some Any>) -> JSONValue { .string(id.text) }

  /// A user's id.
  static func id(_ user: UserID) -> JSONValue { .string(user.text) }
}

extension ID: Shaped {
  /// Any text, as it is in an answer: the row may have been altered, and an operator has to see it, and revoke what it names.
  package static var shape: Shape<ID<Named>> {
    Shape(schema: String.shape.schema) {
      ID(unchecked: try String.shape.read($0, $1))
    } write: {
      .string($0.text)
    }
  }
}

extension Shape {
  /// An id in a request, whose form is checked.
  static func checkedID<Named>() -> Shape where Value == ID<Named> {
    Shape(schema: Value.shape.schema) { value, member in
      guard let id = ID<Named>(checking: try String.shape.read(value, member)) else {
        throw WireFailure.invalid(member: member, reason: ID<Named>.form)
      }
      return id
    } write: {
      Value.shape.write($0)
    }
  }
}

extension UserID: Shaped {
  package static var shape: Shape<UserID> {
    let text = Shape<String>.text(1...128)
    return Shape(
      schema: text.schema.described(
        "Plain characters in Unicode Normalization Form C, no white space at either end.")
    ) { value, member in
      // What is too long has its own words there.
      try UserID(try Shape<String>.anyText(value, member))
    } write: {
      .string($0.text)
    }.named("UserID")
  }
}
