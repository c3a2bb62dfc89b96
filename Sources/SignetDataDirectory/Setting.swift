package import SignetJSON
import SignetServer
import SignetSystem

/// The declaration of a setting; reader, printer, messages and schema are derived from it.
struct Setting<Root: Hashable & Sendable>: Sendable {
  let name: String
  private(set) var isRequired = false
  /// True if a reload (SIGHUP) applies a change; otherwise only the next start does.
  private(set) var isReloaded = false
  fileprivate let jsonSchema: @Sendable (_ absent: Root) -> JSONObject
  fileprivate let read: @Sendable (JSONValue, _ member: String, _ root: inout Root) throws -> Void
  fileprivate let json: @Sendable (Root, _ absent: Root) -> JSONValue?

  /// Declares a setting that is written if it differs from its default.
  ///
  /// - Parameters:
  ///   - name: Its key.
  ///   - path: The property with its value.
  ///   - shape: The allowed values.
  ///   - meaning: Its description, as Markdown; links are relative to `docs`.
  ///   - default: The default in words, if the value itself says less.
  init<Value: Equatable>(
    _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ shape: Shape<Value>,
    _ meaning: String, default: String? = nil
  ) {
    self.name = name
    jsonSchema = { absent in
      let without: JSONObject =
        `default`.map { ["x-default": .string($0)] } ?? ["default": shape.write(absent[keyPath: path])]
      return shape.schema.described(meaning).adding(without).json
    }
    read = { value, member, root in root[keyPath: path] = try shape.reporting.read(value, member) }
    json = { root, absent in
      let value = root[keyPath: path]
      guard value != absent[keyPath: path] else { return .none }  // `nil` would be the value null
      return .some(shape.write(value))
    }
  }

  init<Value>(
    required name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ shape: Shape<Value>,
    _ meaning: String
  ) {
    (self.name, isRequired) = (name, true)
    jsonSchema = { _ in shape.schema.described(meaning).json }
    read = { value, member, root in root[keyPath: path] = try shape.reporting.read(value, member) }
    json = { root, _ in shape.write(root[keyPath: path]) }
  }

  /// Declares a setting whose value is `nil` if it is left out; `default` describes that case.
  init<Value>(
    optional name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, _ shape: Shape<Value>,
    _ meaning: String, default: String
  ) {
    self.name = name
    jsonSchema = { _ in shape.schema.described(meaning).adding(["x-default": .string(`default`)]).json }
    read = { value, member, root in root[keyPath: path] = try shape.reporting.read(value, member) }
    json = { root, _ in root[keyPath: path].map(shape.write) }
  }

  /// Declares an object of settings; it is written if at least one of its members is.
  init(group name: String, _ members: [Setting], _ meaning: String) {
    self.name = name
    isRequired = members.contains { $0.isRequired }
    jsonSchema = { JSONSchema(Self.jsonSchema(of: members, absent: $0)).described(meaning).json }
    read = { value, member, root in
      try Self.read(members, of: JSONObject.shape.reporting.read(value, member), at: member, into: &root)
    }
    json = { root, absent in
      let object = Self.json(of: members, root, absent: absent)
      return object.isEmpty ? .none : .some(.object(object))
    }
  }

  /// The same setting, marked so that a reload (SIGHUP) applies it.
  var reloaded: Setting {
    var setting = self
    setting.isReloaded = true
    return setting
  }

  fileprivate static func read(
    _ settings: [Setting], of object: JSONObject, at parent: String, into root: inout Root
  ) throws {
    try object.refuseMembers(except: settings.map(\.name), at: parent)
    for setting in settings {
      let location = parent.isEmpty ? setting.name : "\(parent).\(setting.name)"
      if let value = object[setting.name] {
        try setting.read(value, location, &root)
      } else if setting.isRequired {
        throw ServerConfigurationFile.Refusal.reason("\"\(location)\" is missing; add it")
      }
    }
  }

  fileprivate static func json(of settings: [Setting], _ root: Root, absent: Root) -> JSONObject {
    settings.reduce(into: JSONObject()) { $0[$1.name] = $1.json(root, absent) }
  }

  fileprivate static func jsonSchema(of settings: [Setting], absent: Root) -> JSONObject {
    var (schema, properties): (JSONObject, JSONObject) = (["type": "object"], [:])
    for setting in settings {
      var described = setting.jsonSchema(absent)
      if setting.isReloaded { described["x-reloaded"] = true }
      properties[setting.name] = .object(described)
    }
    schema["properties"] = .object(properties)
    let required = settings.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { schema["required"] = .array(required) }
    schema["additionalProperties"] = false
    return schema
  }
}

package struct SettingsSchema<Root: Hashable & Sendable>: Sendable {
  /// The value of an empty object.
  let absent: Root
  let settings: [Setting<Root>]
  /// Validates conditions over several settings.
  var check: @Sendable (Root, _ member: String) throws -> Void = { _, _ in }

  /// Reads a value from an object; messages name the object by `member`.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  package func read(_ object: JSONObject, at member: String = "") throws -> Root {
    var root = absent
    try Setting.read(settings, of: object, at: member, into: &root)
    try check(root, member)
    return root
  }

  /// Returns the object of a value: its required settings, and those that differ from their defaults.
  package func json(of root: Root) -> JSONObject { Setting.json(of: settings, root, absent: absent) }

  /// The JSON Schema (draft 2020-12) of the input of ``read(_:at:)``, without conditions over several settings.
  var jsonSchema: JSONObject { Setting.jsonSchema(of: settings, absent: absent) }

  /// The shape of a setting with this schema.
  var shape: Shape<Root> {
    let object = JSONObject.shape.reporting
    return Shape(schema: JSONSchema(jsonSchema)) {
      try read(object.read($0, $1), at: $1)
    } write: {
      .object(json(of: $0))
    }
  }
}
