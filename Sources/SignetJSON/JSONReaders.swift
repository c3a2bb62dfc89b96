extension JSONObject {
  /// The member with this name, of any type.
  ///
  /// - Throws: ``JSONFailure/missingMember(_:)``.
  public func value(_ name: String) throws(JSONFailure) -> JSONValue {
    guard let value = self[name] else { throw .missingMember(name) }
    return value
  }

  /// A required string.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func string(_ name: String) throws(JSONFailure) -> String {
    guard let found = try optionalString(name) else { throw .missingMember(name) }
    return found
  }

  /// A required integer of 64 bits.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func integer(_ name: String) throws(JSONFailure) -> Int64 {
    guard let found = try optionalInteger(name) else { throw .missingMember(name) }
    return found
  }

  /// A required number, with or without a fraction.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func number(_ name: String) throws(JSONFailure) -> Double {
    switch try value(name) {
    case .integer(let whole): return Double(whole)
    case .number(let number): return number
    default: throw .wrongType(member: name, expected: .number)
    }
  }

  /// A required `true` or `false`.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func bool(_ name: String) throws(JSONFailure) -> Bool {
    guard let found = try optionalBool(name) else { throw .missingMember(name) }
    return found
  }

  /// A required object.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func object(_ name: String) throws(JSONFailure) -> JSONObject {
    guard let found = try optionalObject(name) else { throw .missingMember(name) }
    return found
  }

  /// A required array.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func array(_ name: String) throws(JSONFailure) -> [JSONValue] {
    guard let found = try optionalArray(name) else { throw .missingMember(name) }
    return found
  }

  /// A required array of strings only.
  ///
  /// - Throws: ``JSONFailure`` that names the member if it is missing or of another type.
  public func strings(_ name: String) throws(JSONFailure) -> [String] {
    guard let found = try optionalStrings(name) else { throw .missingMember(name) }
    return found
  }

  /// An optional string; `null` counts as a wrong type.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``.
  public func optionalString(_ name: String) throws(JSONFailure) -> String? {
    guard let value = self[name] else { return nil }
    guard case .string(let text) = value else { throw .wrongType(member: name, expected: .string) }
    return text
  }

  /// An optional integer of 64 bits.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``.
  public func optionalInteger(_ name: String) throws(JSONFailure) -> Int64? {
    guard let value = self[name] else { return nil }
    guard case .integer(let whole) = value else { throw .wrongType(member: name, expected: .integer) }
    return whole
  }

  /// An optional `true` or `false`.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``.
  public func optionalBool(_ name: String) throws(JSONFailure) -> Bool? {
    guard let value = self[name] else { return nil }
    guard case .bool(let truth) = value else { throw .wrongType(member: name, expected: .bool) }
    return truth
  }

  /// An optional object.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``.
  public func optionalObject(_ name: String) throws(JSONFailure) -> JSONObject? {
    guard let value = self[name] else { return nil }
    guard case .object(let object) = value else { throw .wrongType(member: name, expected: .object) }
    return object
  }

  /// An optional array.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``.
  public func optionalArray(_ name: String) throws(JSONFailure) -> [JSONValue]? {
    guard let value = self[name] else { return nil }
    guard case .array(let array) = value else { throw .wrongType(member: name, expected: .array) }
    return array
  }

  /// An optional array of strings only.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``.
  public func optionalStrings(_ name: String) throws(JSONFailure) -> [String]? {
    guard let array = try optionalArray(name) else { return nil }
    var texts: [String] = []
    texts.reserveCapacity(array.count)
    for element in array {
      guard case .string(let text) = element else { throw .wrongType(member: name, expected: .strings) }
      texts.append(text)
    }
    return texts
  }
}
