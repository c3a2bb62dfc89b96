import SignetJSON
import SignetServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Shape {
  /// This shape, with messages that also contain the invalid value.
  ///
  /// If an object is required, a text is not shown: it may be the value of a secret member.
  var reporting: Shape {
    let hidesTexts = schema.json["type"] == "object"
    return Shape(schema: schema) { value, member in
      do { return try read(value, member) } catch let refusal as ServerConfigurationFile.Refusal {
        throw refusal
      } catch {
        var summary = value.summary
        if hidesTexts, case .string = value { summary = "a text" }
        throw ServerConfigurationFile.Refusal.reason("\(error); found \(summary)")
      }
    } write: {
      write($0)
    }
  }

  /// Creates a shape for a value that is written as a string.
  ///
  /// - Parameters:
  ///   - allowed: The allowed texts, in words.
  ///   - pattern: A regular expression that all allowed texts match.
  ///   - isSecret: True if messages omit the text, because it can contain a password.
  ///   - read: Reads the value; returns `nil` or throws if the text is invalid.
  ///   - text: Returns the text of a value.
  /// - Returns: A shape whose messages name the allowed texts.
  static func string(
    _ allowed: String, pattern: String? = nil, isSecret: Bool = false,
    read: @escaping @Sendable (String) throws -> Value?, text: @escaping @Sendable (Value) -> String
  ) -> Shape {
    var schema: JSONObject = ["type": "string", "x-values": .string(allowed)]
    schema["pattern"] = pattern.map { .string($0) }
    return Shape(schema: JSONSchema(schema)) { value, member in
      if case .string(let text) = value {
        do { if let parsed = try read(text) { return parsed } } catch {
          throw ServerConfigurationFile.Refusal.reason("\"\(member)\": \(error)")
        }
      }
      throw ServerConfigurationFile.Refusal.reason(
        "\"\(member)\" must be \(allowed)" + (isSecret ? "" : "; found \(value.summary)"))
    } write: {
      .string(text($0))
    }
  }

  /// Creates a shape for an object in a format that another document defines; `read` also gets the object's path, for its
  /// messages.
  static func object(
    _ values: String, read: @escaping @Sendable (JSONObject, _ member: String) throws -> Value,
    json: @escaping @Sendable (Value) -> JSONObject
  ) -> Shape {
    let object = JSONObject.shape.adding(["x-values": .string(values)]).reporting
    return Shape(schema: object.schema) { value, member in
      let found = try object.read(value, member)
      do { return try read(found, member) } catch let refusal as ServerConfigurationFile.Refusal {
        throw refusal
      } catch { throw ServerConfigurationFile.Refusal.reason("\"\(member)\": \(error)") }
    } write: {
      .object(json($0))
    }
  }

  /// Creates a shape for a set, written as a list in the order of the elements' texts.
  static func set<Element>(
    of element: Shape<Element>, _ limits: (any Limits)? = nil
  ) -> Shape where Value == Set<Element> {
    let list = Shape<[Element]>.list(element.reporting, limits)
    return Shape(schema: list.schema) {
      Set(try list.read($0, $1))
    } write: {
      .array($0.map(element.write).sorted { $0.text < $1.text })
    }
  }

  /// Creates a shape for an object whose names the operator chooses; `complaint` returns the error in a name, `nil` if it is
  /// valid.
  static func map<Element>(
    to element: Shape<Element>, upTo limit: Int = .max,
    refusing complaint: @escaping @Sendable (String) -> String? = { _ in nil }
  ) -> Shape where Value == [String: Element] {
    let element = element.reporting
    var schema: JSONObject = ["type": "object", "additionalProperties": .object(element.schema.json)]
    if limit < .max { schema["maxProperties"] = .integer(Int64(limit)) }
    return Shape(schema: JSONSchema(schema)) { value, member in
      let object = try JSONObject.shape.read(value, member)
      guard object.count <= limit else {
        throw ServerConfigurationFile.Refusal.reason(
          "\"\(member)\" must have at most \(limit) members; found \(object.count)")
      }
      return try object.members.reduce(into: [:]) { map, entry in
        let path = "\(member).\(entry.name.prefix(40))"
        if let complaint = complaint(entry.name) {
          throw ServerConfigurationFile.Refusal.reason("\"\(path)\" \(complaint)")
        }
        map[entry.name] = try element.read(entry.value, path)
      }
    } write: { map in
      let members = map.sorted { $0.key < $1.key }
      return .object(members.reduce(into: JSONObject()) { $0[$1.key] = element.write($1.value) })
    }
  }
}

extension JSONValue {
  /// The value in the form for messages.
  var summary: String {
    switch self {
    case .array(let elements): "a list of \(elements.count) elements"
    case .object: "an object"
    default: text.count > 40 ? "\(text.prefix(40))…" : text
    }
  }
}

extension Shape<String> {
  /// Creates a shape for a text that meets a condition.
  static func string(
    _ allowed: String, pattern: String? = nil, isSecret: Bool = false,
    where isAllowed: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Shape {
    string(allowed, pattern: pattern, isSecret: isSecret, read: { isAllowed($0) ? $0 : nil }, text: { $0 })
  }

  /// A file of the folder or elsewhere.
  static let file = string(
    "a name within the folder or a full path", pattern: #"^(/|[^/]+$)"#,
    where: ServerConfigurationFile.mayNameFile)
}

extension Shape<Double> {
  /// A number from 0 to 1.
  static let share = Shape(schema: JSONSchema(["type": "number", "minimum": 0, "maximum": 1])) {
    value, member in
    let number: Double
    switch value {
    case .integer(let whole): number = Double(whole)
    case .number(let fraction): number = fraction
    default: throw JSONFailure.wrongType(member: member, expected: .number)
    }
    guard (0...1).contains(number) else { throw ShapeFailure.number(member: member, limits: "0 to 1") }
    return number
  } write: {
    .number($0)
  }
}

extension Shape where Value: FixedWidthInteger {
  static func seconds(_ range: ClosedRange<Int64>) -> Shape { integer(range, unit: "seconds") }
}

extension Shape<String> {
  /// An IPv4 or IPv6 address, read into the form of `inet_ntop`, which requests use as well.
  static let numericAddress = string("a numeric address", read: { canonicalAddress($0) }, text: { $0 })

  /// Returns an address in the form of `inet_ntop`; `nil` if the text is not a numeric address.
  private static func canonicalAddress(_ text: String) -> String? {
    var address = in6_addr()
    for family in [AF_INET, AF_INET6] where inet_pton(family, text, &address) == 1 {
      var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard inet_ntop(family, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }
}
