package import SignetJSON
package import SignetProtocol

/// The OpenAPI 3.1 description of the HTTP API, created from the endpoints.
package enum APIDescription {
  /// Creates the OpenAPI document.
  ///
  /// - Parameters:
  ///   - endpoints: The endpoints to describe.
  ///   - server: The URL at which they are served.
  ///   - prefix: The prefix of UAF's paths, at the root of the server.
  /// - Returns: The OpenAPI document.
  /// - Precondition: No two endpoints have the same method and path, or the same id.
  package static func document(
    of endpoints: [EndpointDescription], at server: ServerURL, uaf prefix: String
  ) -> JSONObject {
    var (paths, responses, schemes): (JSONObject, JSONObject, JSONObject) = ([:], [:], [:])
    var schemas = Refusal.problem.definitions
    var ids: Set<String> = []
    for endpoint in endpoints {
      precondition(ids.insert(endpoint.id).inserted, "two endpoints are called \(endpoint.id)")
      let path = endpoint.path(uaf: prefix)
      var item: JSONObject = [:]
      if case .object(let existing)? = paths[path] { item = existing }
      let method = endpoint.method.rawValue.lowercased()
      precondition(!item.contains(method), "two endpoints are \(method) \(path)")
      item[method] = .object(operation(endpoint))
      if endpoint.base == .uaf { item["servers"] = [["url": .string(server.origin)]] }
      paths[path] = .object(item)
      for refusal in endpoint.refusals {
        responses[refusal.name] = .object(refusal.json)
        for (_, schema) in refusal.content { add(schema.definitions, to: &schemas) }
      }
      for scheme in endpoint.access.schemes.joined() { schemes[scheme.rawValue] = .object(scheme.json) }
      let used =
        endpoint.answers.flatMap(\.content).map(\.schema) + endpoint.request.parameters.map(\.schema)
        + [endpoint.request.schema].compactMap(\.self)
      for schema in used { add(schema.definitions, to: &schemas) }
    }
    var named: JSONObject = [:]
    for (name, schema) in schemas.sorted(by: { $0.key < $1.key }) { named[name] = .object(schema) }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "Signet", "version": "1",
        "description":
          "The HTTP interface of a Signet server for devices, relying parties and operators. docs/protocol.md specifies its meaning, and the content of signed and encrypted messages. Receivers ignore unknown members.",
      ],
      "servers": [["url": .string(server.fullForm)]],
      "security": [],
      "tags": .array(EndpointGroup.allCases.map { ["name": .string($0.rawValue)] }),
      "paths": .object(paths),
      "components": [
        "securitySchemes": .object(schemes), "responses": .object(responses), "schemas": .object(named),
      ],
    ]
  }

  private static func add(_ definitions: [String: JSONObject], to schemas: inout [String: JSONObject]) {
    for (name, schema) in definitions {
      precondition(schemas[name] ?? schema == schema, "two schemas are called \(name)")
      schemas[name] = schema
    }
  }

  private static func operation(_ endpoint: EndpointDescription) -> JSONObject {
    var operation: JSONObject = [
      "tags": [.string(endpoint.group.rawValue)], "operationId": .string(endpoint.id),
      "summary": .string(endpoint.summary),
    ]
    if let details = endpoint.details { operation["description"] = .string(details) }
    operation["x-signet-effect"] = .string(endpoint.effect.rawValue)
    operation["security"] = .array(
      endpoint.access.schemes.map { schemes in
        var object: JSONObject = [:]
        for scheme in schemes { object[scheme.rawValue] = [] }
        return .object(object)
      })
    let parameters = self.parameters(endpoint)
    if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
    if let type = endpoint.request.mediaType, let schema = endpoint.request.schema {
      var content: JSONObject = ["schema": .object(schema.json)]
      if let example = endpoint.request.example { content["example"] = .object(example) }
      operation["requestBody"] = ["required": true, "content": .object([type: .object(content)])]
    }
    var responses: JSONObject = [:]
    for answer in endpoint.answers {
      var response: JSONObject = ["description": .string(answer.text)]
      if !answer.headers.isEmpty { response["headers"] = .object(answer.headers) }
      var content: JSONObject = [:]
      for (type, schema) in answer.content { content[type] = ["schema": .object(schema.json)] }
      if !content.isEmpty { response["content"] = .object(content) }
      responses[String(answer.status)] = .object(response)
    }
    for refusal in endpoint.refusals.sorted(by: { $0.status < $1.status }) {
      responses[String(refusal.status)] = ["$ref": .string("#/components/responses/\(refusal.name)")]
    }
    operation["responses"] = .object(responses)
    return operation
  }

  private static func parameters(_ endpoint: EndpointDescription) -> [JSONValue] {
    var parameters: [JSONValue] = endpoint.parameters.map { parameter in
      [
        "name": .string(parameter.rawValue), "in": "path", "required": true,
        "description": .string(parameter.text), "schema": .object(parameter.schema.json),
      ]
    }
    for (name, location, schema, isRequired) in endpoint.request.parameters {
      var (json, parameter): (JSONObject, JSONObject) = (
        schema.json, ["name": .string(name), "in": .string(location)]
      )
      if location == "query" { parameter["required"] = .bool(isRequired) }
      if let text = json["description"] { parameter["description"] = text }
      json["description"] = nil
      parameter["schema"] = .object(json)
      parameters.append(.object(parameter))
    }
    return parameters
  }
}
