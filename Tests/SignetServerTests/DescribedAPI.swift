import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetServer
import SignetUAF
import Synchronization
import Testing

/// The description of a server's API, which validates requests and answers.
struct DescribedAPI: Sendable {
  fileprivate struct Operation: Sendable {
    let method: String
    let segments: [Substring]
    let members: JSONObject
  }

  private let schemas: JSONObject
  private let responses: JSONObject
  private let operations: [Operation]
  private var domain = ""

  /// Earlier descriptions by their endpoints; servers of one kind differ only in the address.
  private static let known = Mutex<[String: DescribedAPI]>([:])

  init(_ endpoints: [EndpointDescription], at server: ServerURL, uaf prefix: String = "") throws {
    let kind = ([prefix] + endpoints.map(\.id)).joined(separator: " ")
    self = try Self.known.withLock { known in
      let described = try known[kind] ?? DescribedAPI(describing: endpoints, at: server, uaf: prefix)
      known[kind] = described
      return described
    }
    domain = "/\(server.domain)/"
  }

  private init(describing endpoints: [EndpointDescription], at server: ServerURL, uaf prefix: String) throws {
    let document = APIDescription.document(of: endpoints, at: server, uaf: prefix)
    let components = try document.object("components")
    (schemas, responses) = (try components.object("schemas"), try components.object("responses"))
    operations = try document.object("paths").members.flatMap { path, value -> [Operation] in
      guard case .object(let item) = value else { throw JSONFailure.notAnObject }
      return item.members.compactMap { method, value -> Operation? in
        guard case .object(let members) = value else { return nil }
        return Operation(
          method: method.uppercased(), segments: path.split(separator: "/", omittingEmptySubsequences: false),
          members: members)
      }
    }
  }

  /// Checks that an answer is described, and its request too if it was accepted.
  func check(_ request: HTTPRequest, _ response: HTTPResponse) throws {
    guard let operation = operation(of: request) else { return }
    let name = try "\(operation.string("operationId")) \(response.status)"
    guard let answer = try self.answer(response.status, of: operation) else {
      Issue.record("\(name): the status is not described")
      return
    }
    if let failure = try failure(response.body, response.header("Content-Type"), answer["content"]) {
      Issue.record("\(name): \(failure)")
    }
    guard (200...299).contains(response.status), Self.isAccepted(response),
      case .object(let body)? = operation["requestBody"]
    else { return }
    let type = request.headers.first { $0.0.lowercased() == "content-type" }?.1
    if let failure = try failure(request.body, type, body["content"]) {
      Issue.record("\(name), a request that was accepted: \(failure)")
    }
  }

  /// Returns whether an answer with a success status is no rejection by the UAF protocol.
  private static func isAccepted(_ response: HTTPResponse) -> Bool {
    do {
      let status = try JSONObject(parsing: response.body, limits: limits).optionalInteger("statusCode")
      return status ?? Int64(UAFStatus.ok.rawValue) == UAFStatus.ok.rawValue
    } catch { return true }
  }

  private static let limits = JSONLimits(maximumByteCount: 1 << 20, maximumMemberCount: 100_000)

  private func operation(of request: HTTPRequest) -> JSONObject? {
    guard let scheme = request.url.firstRange(of: "://"),
      let root = request.url[scheme.upperBound...].firstIndex(of: "/")
    else { return nil }
    var path = request.url[root...].prefix { $0 != "?" }
    if path.hasPrefix(domain) { path = path.dropFirst(domain.count - 1) }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    let found = operations.filter { operation in
      operation.method == request.method.rawValue && operation.segments.count == segments.count
        && zip(operation.segments, segments).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
    }
    // A literal segment takes precedence over a parameter.
    return found.max { $0.literalCount < $1.literalCount }?.members
  }

  private func answer(_ status: Int, of operation: JSONObject) throws -> JSONObject? {
    guard case .object(let answer)? = try operation.object("responses")[String(status)] else { return nil }
    guard let reference = try answer.optionalString("$ref") else { return answer }
    return try responses.object(String(reference.split(separator: "/").last ?? ""))
  }

  // MARK: Schemas

  /// Returns the mismatch of a body; `nil` if it is valid.
  private func failure(_ body: [UInt8], _ type: String?, _ content: JSONValue?) throws -> String? {
    guard case .object(let content)? = content else { return body.isEmpty ? nil : "a body is not described" }
    let type = type.map { $0.prefix { $0 != ";" }.lowercased() } ?? "none"
    guard case .object(let media)? = content[type] else { return "the content type \(type) is not described" }
    guard !["application/jose", "application/x-www-form-urlencoded"].contains(type) else { return nil }
    do {
      let value = try JSONValue(parsing: body, limits: Self.limits)
      return try failure(value, media.object("schema"), "")
    } catch { return "\(error)" }
  }

  private func failure(_ value: JSONValue, _ schema: JSONObject, _ path: String) throws -> String? {
    if let reference = try schema.optionalString("$ref") {
      return try failure(value, schemas.object(String(reference.split(separator: "/").last ?? "")), path)
    }
    for case .object(let part) in try schema.contains("allOf") ? schema.array("allOf") : [] {
      if let failure = try failure(value, part, path) { return failure }
    }
    if schema.contains("oneOf") {
      let fitting = try schema.array("oneOf").count(where: { part throws -> Bool in
        guard case .object(let part) = part else { throw JSONFailure.notAnObject }
        return try failure(value, part, path) == nil
      })
      if fitting != 1 { return "\(path): fits \(fitting) of the alternatives" }
    }
    if schema.contains("enum"), try !schema.array("enum").contains(value) {
      return "\(path): is none of the values"
    }
    func isOutside(_ count: Int64, _ least: String, _ most: String) throws -> Bool {
      try schema.optionalInteger(least).map { count < $0 } ?? false
        || schema.optionalInteger(most).map { count > $0 } ?? false
    }
    switch (try schema.optionalString("type"), value) {
    case ("object", .object(let object)): return try failure(of: object, schema, path)
    case (nil, .object(let object)) where schema.contains("properties"):
      return try failure(of: object, schema, path)
    case ("array", .array(let elements)):
      if try isOutside(Int64(elements.count), "minItems", "maxItems") { return "\(path): count" }
      guard case .object(let items)? = schema["items"] else { return nil }
      for (position, element) in elements.enumerated() {
        if let failure = try failure(element, items, "\(path)[\(position)]") { return failure }
      }
      return nil
    case ("string", .string(let text)):
      if try isOutside(Int64(text.unicodeScalars.count), "minLength", "maxLength") {
        return "\(path): length"
      }
      guard let pattern = try schema.optionalString("pattern") else { return nil }
      return try text.contains(Regex(pattern)) ? nil : "\(path): does not match \(pattern)"
    case ("integer", .integer(let number)):
      return try isOutside(number, "minimum", "maximum") ? "\(path): out of range" : nil
    case ("boolean", .bool), (nil, _): return nil
    case (let type?, _): return "\(path): is no \(type)"
    }
  }

  private func failure(of object: JSONObject, _ schema: JSONObject, _ path: String) throws -> String? {
    for case .string(let name) in try schema.contains("required") ? schema.array("required") : []
    where !object.contains(name) {
      return "\(path).\(name): is missing"
    }
    for (name, part) in try schema.contains("properties") ? schema.object("properties").members : [] {
      guard let value = object[name], case .object(let part) = part else { continue }
      if let failure = try failure(value, part, "\(path).\(name)") { return failure }
    }
    return nil
  }
}

extension DescribedAPI.Operation {
  fileprivate var literalCount: Int { segments.count(where: { !$0.hasPrefix("{") }) }
}
