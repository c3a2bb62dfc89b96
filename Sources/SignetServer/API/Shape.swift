package import SignetJSON
package import SignetProtocol
import SignetSystem

/// The reason why a value does not match its shape.
package enum ShapeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A text is too short or too long.
  case length(member: String, limits: String)
  /// A number is too small or too large.
  case number(member: String, limits: String)
  /// A list has too few or too many elements.
  case count(member: String, limits: String)
  /// A text is not one of the allowed ones.
  case choice(member: String, allowed: [String])

  /// The reason and the member's path, for the sender.
  package var description: String {
    switch self {
    case .length(let member, let limits): "\"\(member)\" must be a text of \(limits) characters"
    case .number(let member, let limits): "\"\(member)\" must be \(limits)"
    case .count(let member, let limits): "\"\(member)\" must be a list of \(limits) elements"
    case .choice(let member, let allowed) where allowed.count == 2:
      "\"\(member)\" must be \"\(allowed[0])\" or \"\(allowed[1])\""
    case .choice(let member, let allowed):
      "\"\(member)\" must be one of " + allowed.map { "\"\($0)\"" }.joined(separator: ", ")
    }
  }
}

/// A value's JSON form: reads it, writes it and describes it.
package struct Shape<Value: Sendable>: Sendable {
  /// The schema in the API description.
  package let schema: JSONSchema
  /// Reads a member's value; a failure names the member by its path.
  package let read: @Sendable (JSONValue, _ member: String) throws -> Value
  package let write: @Sendable (Value) -> JSONValue

  package init(
    schema: JSONSchema, read: @escaping @Sendable (JSONValue, _ member: String) throws -> Value,
    write: @escaping @Sendable (Value) -> JSONValue
  ) {
    self.schema = schema
    self.read = read
    self.write = write
  }

  /// Returns this shape with a name; the API description then defines it once.
  func named(_ name: String) -> Shape {
    Shape(schema: schema.named(name), read: read, write: write)
  }
}

/// A type with one shape.
package protocol Shaped: Sendable {
  /// The JSON form of its values.
  static var shape: Shape<Self> { get }
}

extension Shape where Value == String {
  /// A text with limits on its number of code points.
  ///
  /// The pattern describes texts that the server writes; no input is matched against it.
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

  /// Reads a text of any length without creating a schema, for shapes that parse the text further.
  static func anyText(_ value: JSONValue, _ member: String) throws -> String {
    guard case .string(let text) = value else {
      throw JSONFailure.wrongType(member: member, expected: .string)
    }
    return text
  }

  /// A text with a smallest and a largest number of code points.
  package static func text(_ limits: ClosedRange<Int64>) -> Shape { text(limits as any Limits) }

  /// A text with a smallest number of code points.
  package static func text(_ limits: PartialRangeFrom<Int64>) -> Shape { text(limits as any Limits) }

  /// A text with a largest number of code points.
  package static func text(_ limits: PartialRangeThrough<Int64>) -> Shape { text(limits as any Limits) }

  package static func oneOf(_ allowed: String...) -> Shape { oneOf(allowed) }

  /// One of several texts, compared byte for byte.
  package static func oneOf(_ allowed: [String]) -> Shape {
    Shape(schema: JSONSchema(["type": "string", "enum": .array(allowed.map { .string($0) })])) {
      value, member in
      let text = try anyText(value, member)
      guard allowed.contains(where: { $0.hasSameBytes(as: text) }) else {
        throw ShapeFailure.choice(member: member, allowed: allowed)
      }
      return text
    } write: {
      .string($0)
    }
  }
}

extension Shape where Value: FixedWidthInteger {
  /// A whole number.
  ///
  /// The unit appears in the schema and in failures.
  package static func integer(_ limits: (any Limits)?, unit: String? = nil) -> Shape {
    var schema = JSONSchema(["type": "integer"])
    if let limits { schema = schema.adding(limits.keywords("minimum", "maximum")) }
    if let unit { schema = schema.adding(["x-unit": .string(unit)]) }
    return Shape(schema: schema) { value, member in
      let wrongType = JSONFailure.wrongType(member: member, expected: .integer)
      guard case .integer(let integer) = value else { throw wrongType }
      if let limits, !limits.contains(integer) {
        throw ShapeFailure.number(member: member, limits: limits.text + (unit.map { " \($0)" } ?? ""))
      }
      guard let number = Value(exactly: integer) else { throw wrongType }
      return number
    } write: {
      .integer(Int64($0))
    }
  }

  /// A whole number in a closed range.
  package static func integer(_ limits: ClosedRange<Int64>) -> Shape { integer(limits as any Limits) }

  /// A whole number with a lower limit.
  package static func integer(_ limits: PartialRangeFrom<Int64>) -> Shape { integer(limits as any Limits) }
}

extension Shape where Value == Int64 {
  /// Whole seconds since 1970.
  static let time = Shape.integer(nil).adding(["description": "Whole seconds since 1970-01-01T00:00:00Z."])
    .named("Time")
}

extension Shape where Value: Shaped {
  /// This shape for a value from a row, which was validated when it was written.
  ///
  /// The schema states the limits, but a reader does not check them. A list with a row that was altered in the database can
  /// still be read.
  var ofRow: Shape { Shape(schema: schema, read: Value.shape.read, write: write) }
}

extension Shape {
  /// Returns this shape with further keywords in its schema.
  package func adding(_ keywords: JSONObject) -> Shape {
    Shape(schema: schema.adding(keywords), read: read, write: write)
  }

  package static func list<Element: Sendable>(
    _ element: Shape<Element>, _ limits: (any Limits)? = nil
  ) -> Shape where Value == [Element] {
    var schema = JSONSchema.list(of: element.schema)
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

  /// A list with a smallest and a largest number of elements, each in the shape of its type.
  package static func list<Element: Shaped>(_ limits: ClosedRange<Int64>) -> Shape where Value == [Element] {
    list(Element.shape, limits)
  }

  /// A list with a smallest number of elements, each in the shape of its type.
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
      guard case .bool(let bool) = value else {
        throw JSONFailure.wrongType(member: member, expected: .bool)
      }
      return bool
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
  static func id(_ id: ID<some Any>) -> JSONValue { .string(id.text) }

  static func id(_ user: UserID) -> JSONValue { .string(user.text) }
}

extension ID: Shaped {
  /// An id in an answer, which may be any text: an operator must see an altered row, to revoke it by that id.
  package static var shape: Shape<ID<Named>> {
    Shape(schema: String.shape.schema) {
      ID(unchecked: try String.shape.read($0, $1))
    } write: {
      .string($0.text)
    }
  }
}

extension Shape {
  /// An id in a request, whose form is validated.
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
      // `UserID` has its own failure for a text that is too long.
      try UserID(try Shape<String>.anyText(value, member))
    } write: {
      .string($0.text)
    }.named("UserID")
  }
}
