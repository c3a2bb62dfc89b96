package import SignetJSON

/// The JSON Schema of a value, with the named schemas that it refers to.
package struct JSONSchema: Sendable {
  package let json: JSONObject
  /// The named schemas, by their names in the API description.
  package let definitions: [String: JSONObject]

  package init(_ json: JSONObject, definitions: [String: JSONObject] = [:]) {
    (self.json, self.definitions) = (json, definitions)
  }

  /// Returns the schema of an object with members, in order.
  static func message(
    _ members: [(name: String, schema: JSONSchema, isRequired: Bool)]
  ) -> JSONSchema {
    var (properties, definitions): (JSONObject, [String: JSONObject]) = ([:], [:])
    for (name, schema, _) in members {
      precondition(!properties.contains(name), "a message has two members \"\(name)\"")
      properties[name] = .object(schema.json)
      definitions.merge(schema.definitions) { first, _ in first }
    }
    var json: JSONObject = ["type": "object"]
    let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { json["required"] = .array(required) }
    json["properties"] = .object(properties)
    return JSONSchema(json, definitions: definitions)
  }

  /// Returns the schema of a message that another module or a service parses and writes.
  ///
  /// A message that its endpoint parses or writes has a ``MessageSchema``. Tests compare accepted requests and answers with
  /// both.
  static func message(
    _ members: KeyValuePairs<String, JSONSchema>, optional: Set<String> = []
  ) -> JSONSchema {
    message(members.map { (name: $0.key, schema: $0.value, isRequired: !optional.contains($0.key)) })
  }

  /// Returns the schema of a list.
  static func list(of element: JSONSchema) -> JSONSchema {
    JSONSchema(["type": "array", "items": .object(element.json)], definitions: element.definitions)
  }

  /// Any text.
  static let string = String.shape.schema

  /// Returns a reference to this schema, which the API description defines once.
  func named(_ name: String) -> JSONSchema {
    var definitions = definitions
    definitions[name] = json
    return JSONSchema(["$ref": .string("#/components/schemas/\(name)")], definitions: definitions)
  }

  /// Returns this schema with a sentence about the value.
  package func described(_ text: String?) -> JSONSchema {
    guard let text else { return self }
    var json = json
    json["description"] = .string(text)
    return JSONSchema(json, definitions: definitions)
  }

  /// Returns this schema with further keywords.
  package func adding(_ keywords: JSONObject) -> JSONSchema {
    var json = json
    for (name, value) in keywords.members { json[name] = value }
    return JSONSchema(json, definitions: definitions)
  }
}

/// A range with an optional lower and upper limit.
package protocol Limits: Sendable {
  /// The smallest value; `nil` for no limit.
  var least: Int64? { get }
  /// The largest value; `nil` for no limit.
  var greatest: Int64? { get }
}

extension ClosedRange: Limits where Bound == Int64 {
  package var least: Int64? { lowerBound }
  package var greatest: Int64? { upperBound }
}

extension PartialRangeFrom: Limits where Bound == Int64 {
  package var least: Int64? { lowerBound }
  package var greatest: Int64? { nil }
}

extension PartialRangeThrough: Limits where Bound == Int64 {
  package var least: Int64? { nil }
  package var greatest: Int64? { upperBound }
}

extension Limits {
  func contains(_ value: Int64) -> Bool { least ?? .min <= value && value <= greatest ?? .max }

  /// Returns the limits as JSON Schema keywords, such as `minLength` and `maxLength`.
  func keywords(_ minimum: String, _ maximum: String) -> JSONObject {
    var object: JSONObject = [:]
    object[minimum] = least.map { .integer($0) }
    object[maximum] = greatest.map { .integer($0) }
    return object
  }

  /// The limits as text: `1 to 128`, `2`, `at least 1` or `at most 128`.
  package var text: String {
    switch (least, greatest) {
    case (let least?, let greatest?) where least == greatest: "\(least)"
    case (let least?, let greatest?): "\(least) to \(greatest)"
    case (let least?, nil): "at least \(least)"
    case (nil, let greatest?): "at most \(greatest)"
    case (nil, nil): "any"
    }
  }
}
