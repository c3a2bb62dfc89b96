import SignetHTTPServer
package import SignetJSON
import SignetProtocol

/// The API description of a request's content.
package struct RequestDescription: Sendable {
  /// The media type of the body; `nil` for none.
  package var mediaType: String?
  var schema: JSONSchema?
  /// An example body, which the server accepts if it has the named objects.
  package var example: JSONObject?
  /// The query parameters and header fields: name, location, schema, and true if required.
  var parameters: [(name: String, location: String, schema: JSONSchema, isRequired: Bool)] = []
}

/// The content of a client's request, except its path.
package struct RequestContent: Sendable {
  package var query: [(name: String, value: String)] = []
  /// The body; empty for none.
  package var body: [UInt8] = []
}

/// The form of a request's content: reads it, writes it and describes it.
package struct RequestShape<Value: Sendable>: Sendable {
  let description: RequestDescription
  /// Checks the content types of a request, before its caller is authenticated.
  var checkTypes: @Sendable (ServerRequest) throws -> Void = { _ in }
  /// Parses the content after its caller is authenticated.
  let read: @Sendable (ServerRequest) throws -> Value
  /// Writes the content that ``read`` parses; `nil` if the server's own client does not send it.
  var write: (@Sendable (Value) -> RequestContent)?
}

extension RequestShape where Value == Void {
  /// No content.
  package static var nothing: Self {
    RequestShape(description: RequestDescription(), read: { _ in }, write: { _ in RequestContent() })
  }

  /// A form or a JWS, which the credential parses while it authenticates the caller.
  static func body(
    _ mediaType: String, _ schema: JSONSchema, query: KeyValuePairs<String, JSONSchema> = [:],
    example: JSONObject? = nil
  ) -> Self {
    RequestShape(
      description: RequestDescription(
        mediaType: mediaType, schema: schema, example: example,
        parameters: query.map { (name: $0.key, location: "query", schema: $0.value, isRequired: true) })
    ) { _ in }
  }

  /// The header fields of a device that waits for a change of a list; the handler parses them.
  static let waiting = RequestShape(description: waitingDescription) { _ in }

  static let waitingDescription = RequestDescription(
    parameters: [
      ("If-None-Match", "The tag of the list that the device has."),
      ("Prefer", "`wait=<seconds>`: how long to wait for another list, at most 50."),
    ].map { ($0.0, "header", String.shape.schema.described($0.1), false) })
}

extension RequestShape {
  static func json(_ type: Value.Type, example: JSONObject? = nil) -> Self where Value: Message {
    RequestShape(
      description: RequestDescription(
        mediaType: "application/json", schema: type.shape.schema, example: example),
      checkTypes: { try requireJSON($0) }, read: { try Value(reading(JSONObject(parsing: $0.body))) },
      write: { RequestContent(body: $0.json.bytes) })
  }

  static func query(_ type: Value.Type) -> Self where Value: Message {
    let schema = type.schema
    return RequestShape(
      description: RequestDescription(parameters: type.parameters)
    ) { request in
      var values: [String: String] = [:]
      for member in schema.members { values[member.name] = request.query[member.name] }
      do { return try schema.read(query: values) } catch { throw Problem(reading: error) }
    } write: {
      RequestContent(query: schema.query($0))
    }
  }

  /// A JSON body that another module parses.
  ///
  /// Tests compare accepted requests with the message.
  static func bytes(describedBy schema: JSONSchema, example: JSONObject? = nil) -> Self
  where Value == [UInt8] {
    RequestShape(
      description: RequestDescription(mediaType: "application/json", schema: schema, example: example),
      checkTypes: { try requireJSON($0) }, read: { $0.body })
  }
}

extension Message {
  /// The message's schema in the API description.
  static var described: JSONSchema { shape.schema }

  /// The message's members as query parameters.
  fileprivate static var parameters: [(name: String, location: String, schema: JSONSchema, isRequired: Bool)]
  {
    schema.members.map { ($0.name, "query", $0.schema, $0.isRequired) }
  }
}

/// The API description of a successful answer.
package struct AnswerDescription: Sendable {
  package var status: Int
  package var text: String
  /// The schemas of the body, by media type.
  var content: [(mediaType: String, schema: JSONSchema)] = []
  /// The header fields in OpenAPI's form.
  var headers: JSONObject = [:]
}

/// The form of a handler's answer: sends it, parses it and describes it.
package struct AnswerShape<Value: Sendable>: Sendable {
  let answers: [AnswerDescription]
  let response: @Sendable (Value) -> ServerResponse
  /// Parses a server's answer; `nil` if the answer is not a message.
  var read: (@Sendable (JSONObject) throws -> Value)?
}

extension AnswerShape {
  /// A message, with further header fields.
  static func json(
    _ type: Value.Type, _ text: String, status: Int = 200, headers: KeyValuePairs<String, String> = [:]
  ) -> Self where Value: Message {
    let shape = json(type.schema, text, status: status)
    return AnswerShape(
      answers: shape.answers,
      response: { message in
        var response = shape.response(message)
        for (name, value) in headers { response.headers[name] = value }
        return response
      }, read: shape.read)
  }

  /// A message with a schema that only this endpoint uses.
  static func json(_ schema: MessageSchema<Value>, _ text: String, status: Int = 200) -> Self {
    AnswerShape(
      answers: [
        AnswerDescription(status: status, text: text, content: [("application/json", schema.described)])
      ], response: { .json(schema.write($0), status: status) }, read: { try schema.read($0, "") })
  }

  /// A message about a new object, with HTTP status 201.
  static func created(_ type: Value.Type, _ text: String) -> Self where Value: Message {
    json(type, text, status: 201)
  }

  /// A JSON object that another module creates.
  ///
  /// Tests compare answers with the description.
  static func object(describedBy schema: JSONSchema, _ text: String) -> Self where Value == JSONObject {
    AnswerShape(answers: [
      AnswerDescription(status: 200, text: text, content: [("application/json", schema)])
    ]) { .json($0) }
  }

  /// JSON bytes that another module writes.
  ///
  /// Tests compare answers with the description.
  static func bytes(describedBy schema: JSONSchema, _ text: String) -> Self
  where Value == [UInt8] {
    AnswerShape(answers: [
      AnswerDescription(status: 200, text: text, content: [("application/json", schema)])
    ]) { .bytes($0, type: "application/json") }
  }

  /// A message with a fixed `status`.
  static func status(_ status: String, _ text: String) -> Self where Value == Void {
    json(
      MessageSchema({ (_: String) in () }) { Member("status", { (_: Void) in status }, .oneOf(status)) }, text
    )
  }

  /// A message with a transaction's id and a fixed `status`.
  static func idWithStatus(_ status: String, _ text: String) -> Self where Value == TransactionID {
    json(
      MessageSchema({ (id: TransactionID, _: String) in id }) {
        Member("id", { (id: TransactionID) in id }, TransactionID.shape)
        Member("status", { (_: TransactionID) in status }, .oneOf(status))
      }, text)
  }

  /// A JWS or a JWE.
  static func jose(_ text: String) -> Self where Value == String {
    AnswerShape(answers: [
      AnswerDescription(
        status: 200, text: text, content: [("application/jose", String.shape.schema)])
    ]) { .bytes(Array($0.utf8), type: "application/jose") }
  }

  /// A response that the handler creates itself.
  ///
  /// Tests compare answers with the description.
  static func response(_ schema: JSONSchema, _ text: String) -> Self where Value == ServerResponse {
    response([AnswerDescription(status: 200, text: text, content: [("application/json", schema)])])
  }

  /// A response that the handler creates itself.
  static func response(_ answers: [AnswerDescription]) -> Self where Value == ServerResponse {
    AnswerShape(answers: answers) { $0 }
  }

  /// A list for a device that waits for a change of it.
  static func changingList(_ text: String) -> Self where Value == ServerResponse {
    response([
      AnswerDescription(
        status: 200, text: text, content: [("application/jose", String.shape.schema)],
        headers: [
          "ETag": [
            "required": true, "description": "Changes whenever the list changes.",
            "schema": ["type": "string"],
          ]
        ]),
      AnswerDescription(
        status: 304, text: "The list did not change while the request waited.",
        headers: ["ETag": ["required": true, "schema": ["type": "string"]]]),
    ])
  }
}
