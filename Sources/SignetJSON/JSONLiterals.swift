extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Creates `null` from `nil`.
  public init(nilLiteral: ()) { self = .null }
  /// Creates a boolean from a literal.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an integer from a literal.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a number from a literal with a fraction.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Creates a string from a literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array from a literal.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object from a literal; it keeps the order of members, and names must be unique.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(literal: elements))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object from a literal; it keeps the order of members, and names must be unique.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(literal: elements) }

  init(literal elements: [(String, JSONValue)]) {
    self.init()
    for (name, value) in elements {
      precondition(!contains(name), "an object literal names a member twice")
      set(name, value)
    }
  }
}
