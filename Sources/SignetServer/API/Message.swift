package import SignetJSON
package import SignetProtocol

/// A JSON object of the API; parser, writer and description come from its ``schema``.
package protocol Message: Shaped {
  static var schema: MessageSchema<Self> { get }
}

extension Message {
  package static var shape: Shape<Self> {
    let schema = schema
    return Shape(schema: schema.described) { value, member in
      guard case .object(let object) = value else {
        throw JSONFailure.wrongType(member: member, expected: .object)
      }
      return try schema.read(object, "\(member).")
    } write: {
      .object(schema.write($0))
    }
  }

  /// Parses a message from a request.
  ///
  /// - Throws: ``Problem/Code/malformed``, or the `Problem` that a member's type throws.
  package init(_ object: JSONObject) throws(Problem) {
    do { self = try Self.schema.read(object, "") } catch { throw Problem(reading: error) }
  }

  package var json: JSONObject { Self.schema.write(self) }
}

/// A member of a message: its name, type, limits and meaning.
package struct Member<Owner, Value: Sendable>: Sendable {
  let name: String
  let schema: JSONSchema
  let isRequired: Bool
  /// Reads the member of an object whose path in the message is `path`, such as `tokens[3].`.
  let read: @Sendable (JSONObject, _ path: String) throws -> Value
  let write: @Sendable (Owner) -> JSONValue?

  init(
    _ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ shape: Shape<Value>, _ text: String? = nil
  ) {
    self.init(name, { $0[keyPath: path] }, shape, text)
  }

  /// Creates a required member with a computed value.
  init(
    _ name: String, _ value: @escaping @Sendable (Owner) -> Value, _ shape: Shape<Value>,
    _ text: String? = nil
  ) {
    (self.name, isRequired) = (name, true)
    schema = shape.schema.described(text)
    read = { object, path in
      guard let value = object[name] else { throw JSONFailure.missingMember(path + name) }
      return try shape.read(value, path + name)
    }
    write = { shape.write(value($0)) }
  }

  /// Creates a required member in the shape of its type.
  init(_ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ text: String? = nil)
  where Value: Shaped {
    self.init(name, path, Value.shape, text)
  }

  init<Wrapped: Sendable>(
    _ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ shape: Shape<Wrapped>,
    _ text: String? = nil
  ) where Value == Wrapped? {
    (self.name, isRequired) = (name, false)
    schema = shape.schema.described(text)
    read = { object, path in try object[name].map { try shape.read($0, path + name) } }
    write = { $0[keyPath: path].map(shape.write) }
  }

  /// Creates an optional member in the shape of its type.
  init<Wrapped: Shaped>(
    _ name: String, _ path: any KeyPath<Owner, Value> & Sendable, _ text: String? = nil
  ) where Value == Wrapped? {
    self.init(name, path, Wrapped.shape, text)
  }
}

/// The members of a message, in order, and the initializer that takes their values.
package struct MessageSchema<Owner: Sendable>: Sendable {
  /// Reads an object whose path in the message is `path`: empty, or such as `tokens[3].`.
  let read: @Sendable (JSONObject, _ path: String) throws -> Owner
  let write: @Sendable (Owner) -> JSONObject
  /// The members: name, schema, and true if required.
  package let members: [(name: String, schema: JSONSchema, isRequired: Bool)]
  let described: JSONSchema

  /// Creates a schema.
  ///
  /// - Parameters:
  ///   - make: Creates a message from the values, in the order of `members`.
  ///   - name: The message's name; with a name, the API description defines it once.
  ///   - text: A sentence about the message for the description.
  ///   - list: The members.
  init<each Value>(
    _ make: @escaping @Sendable (repeat each Value) -> Owner, named name: String? = nil,
    _ text: String? = nil,
    @MemberList<Owner> members list: () -> (repeat Member<Owner, each Value>)
  ) {
    let list = list()
    var members: [(name: String, schema: JSONSchema, isRequired: Bool)] = []
    for member in repeat each list { members.append((member.name, member.schema, member.isRequired)) }
    read = { object, path in try make(repeat (each list).read(object, path)) }
    write = { message in
      var object: JSONObject = [:]
      for member in repeat each list { object[member.name] = member.write(message) }
      return object
    }
    self.members = members
    let schema = JSONSchema.message(members).described(text)
    described = name.map { schema.named($0) } ?? schema
  }

  /// Reads a message from a query, whose values are texts.
  func read(query: [String: String]) throws -> Owner {
    var object: JSONObject = [:]
    for member in members {
      guard let text = query[member.name] else { continue }
      // A value that is not a number stays a text, which the shape then rejects.
      let number = member.schema.json["type"] == "integer" ? Int64(text) : nil
      object[member.name] = number.map { .integer($0) } ?? .string(text)
    }
    return try read(object, "")
  }

  /// Writes a message as a query.
  func query(_ message: Owner) -> [(name: String, value: String)] {
    write(message).members.map { member in
      if case .string(let text) = member.value {
        (member.name, text)
      } else {
        (member.name, member.value.text)
      }
    }
  }
}

/// Collects the members of a message.
@resultBuilder package enum MemberList<Owner> {
  /// Returns all members, each with its type.
  package static func buildBlock<each Value>(
    _ members: repeat Member<Owner, each Value>
  ) -> (repeat Member<Owner, each Value>) {
    (repeat each members)
  }
}

extension Problem {
  /// Converts the failure to parse a request.
  package init(reading error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let failure as any CustomStringConvertible: self.init(.malformed, failure.description)
    default: self.init(.malformed)
    }
  }
}
