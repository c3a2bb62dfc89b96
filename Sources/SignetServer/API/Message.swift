package import SignetJSON
package import SignetWire

/// A JSON object of the API, whose one definition is read by parser, printer and description.
package protocol Message: Shaped {
  /// The members.
  static var schema: MessageSchema<Self> { get }
}

extension Message {
  package static var shape: Shape<Self> {
    let schema = schema
    return Shape(schema: schema.described) { value, member in
      guard case .object(let object) = value else {
        throw JSONFailure.wrongType(member: member, expected: .object)
      }
      return try schema.read(object)
    } write: {
      .object(schema.write($0))
    }
  }

  /// Reads a message that somebody sent.
  ///
  /// - Throws: ``Problem/Code/malformed``, or what the type of a member throws.
  package init(_ object: JSONObject) throws(Problem) {
    do { self = try Self.schema.read(object) } catch { throw Problem(reading: error) }
  }

  /// The message as JSON.
  package var json: JSONObject { Self.schema.write(self) }
}

/// A member of a message: its name, type, limits and meaning.
package struct Member<Owner, Value: Sendable>: Sendable {
  let name: String
  let schema: JSONSchema
  let isRequired: Bool
  let read: @Sendable (JSONObject) throws -> Value
  let write: @Sendable (Owner) -> JSONValue?

  /// A member that has to be there.
  init(
    _ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ shape: Shape<Value>, _ text: String? = nil
  ) {
    (self.name, isRequired) = (name, true)
    schema = shape.schema.described(text)
    read = { try shape.read(try $0.value(name), name) }
    write = { shape.write($0[keyPath: path]) }
  }

  /// A member that has to be there, whose value is found by a function.
  init(
    _ name: String, _ value: @escaping @Sendable (Owner) -> Value, _ shape: Shape<Value>, _ text: String? = nil
  ) {
    (self.name, isRequired) = (name, true)
    schema = shape.schema.described(text)
    read = { try shape.read(try $0.value(name), name) }
    write = { shape.write(value($0)) }
  }

  /// A member that has to be there, in the shape of its type.
  init(_ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ text: String? = nil) where Value: Shaped {
    self.init(name, path, Value.shape, text)
  }

  /// A member that may be left out.
  init<Wrapped: Sendable>(
    _ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ shape: Shape<Wrapped>, _ text: String? = nil
  ) where Value == Wrapped? {
    (self.name, isRequired) = (name, false)
    schema = shape.schema.described(text)
    read = { object in try object[name].map { try shape.read($0, name) } }
    write = { $0[keyPath: path].map(shape.write) }
  }

  /// A member that may be left out, in the shape of its type.
  init<Wrapped: Shaped>(
    _ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ text: String? = nil
  ) where Value == Wrapped? {
    self.init(name, path, Wrapped.shape, text)
  }
}

/// The members of a message, in order, and how a message is made of their values.
package struct MessageSchema<Owner: Sendable>: Sendable {
  let read: @Sendable (JSONObject) throws -> Owner
  let write: @Sendable (Owner) -> JSONObject
  /// Name, schema and whether it has to be there.
  let members: [(name: String, schema: JSONSchema, isRequired: Bool)]
  let described: JSONSchema

  /// Describes a message.
  ///
  /// - Parameters:
  ///   - make: Makes a message of the values, in the order of `members`.
  ///   - name: Under which the description has it once.
  ///   - text: What the description says of it.
  ///   - members: The members.
  init<each Value>(
    _ make: @escaping @Sendable (repeat each Value) -> Owner, named name: String? = nil, _ text: String? = nil,
    @MemberList<Owner> members list: () -> (repeat Member<Owner, each Value>)
  ) {
    let list = list()
    var members: [(name: String, schema: JSONSchema, isRequired: Bool)] = []
    for member in repeat each list { members.append((member.name, member.schema, member.isRequired)) }
    read = { object in try make(repeat (each list).read(object)) }
    write = { message in
      var object: JSONObject = [:]
      for member in repeat each list { object[member.name] = member.write(message) }
      return object
    }
    self.members = members
    let schema = Self.schema(of: members).described(text)
    described = name.map { schema.named($0) } ?? schema
  }

  private static func schema(
    of members: [(name: String, schema: JSONSchema, isRequired: Bool)]
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

  /// Reads a message of a query, whose values are texts.
  func read(query: [String: String]) throws -> Owner {
    var object: JSONObject = [:]
    for member in members {
      guard let text = query[member.name] else { continue }
      // A number that is none stays a text, which the shape refuses.
      let number = member.schema.json["type"] == "integer" ? Int64(text) : nil
      object[member.name] = number.map { .integer($0) } ?? .string(text)
    }
    return try read(object)
  }
}

/// Puts the members of a message together.
@resultBuilder package enum MemberList<Owner> {
  /// All of them, each with its type.
  package static func buildBlock<each Value>(
    _ members: repeat Member<Owner, each Value>
  ) -> (repeat Member<Owner, each Value>) {
    (repeat each members)
  }
}

extension Problem {
  /// What is wrong with what somebody sent.
  init(reading error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let failure as any CustomStringConvertible: self.init(.malformed, failure.description)
    default: self.init(.malformed)
    }
  }
}
