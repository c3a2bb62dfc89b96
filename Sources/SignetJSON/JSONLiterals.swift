extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Writes `null` as `nil`.
  public init(nilLiteral: ()) { self = .null }
  /// Writes a truth value as a literal.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Writes a whole number as a literal.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Writes a fraction as a literal.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Writes a string as a literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Writes an array as a literal.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Writes an object as a literal; the order of members is kept and a name may stand once.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(literal: elements))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Writes an object as a literal; the order of members is kept and a name may stand once.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(literal: elements) }

  init(literal elements: [(String, JSONValue)]) {
    self.init()
    for (name, value) in elements {
      precondition(!contains(name), "an object literal names a member twice")
      set(name, value)
    }
  }
}
