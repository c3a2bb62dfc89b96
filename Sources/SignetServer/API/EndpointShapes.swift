import SignetHTTP
package import SignetJSON
import SignetWire

/// The description of what a request carries.
package struct RequestDescription: Sendable {
  /// Of the body; `nil` for none.
  package var mediaType: String?
  /// Of the body.
  var schema: JSONSchema?
  /// A body that is accepted where the server has what it names.
  package var example: JSONObject?
  /// Query and header fields: name, place, schema, whether it is required.
  var parameters: [(name: String, place: String, schema: JSONSchema, isRequired: Bool)] = []
}

/// What a client puts into a request beside its path.
package struct RequestContent: Sendable {
  /// Names and values of the query.
  package var query: [(name: String, value: String)] = []
  /// The body; empty for none.
  package var body: [UInt8] = []
}

/// Reads, writes and describes what a request carries.
package struct RequestShape<Value: Sendable>: Sendable {
  let description: RequestDescription
  /// Checks the content types of a request, before its caller is authenticated.
  var checkTypes: @Sendable (ServerRequest) throws -> Void = { _ in }
  /// Reads what a request carries, once its caller is authenticated.
  let read: @Sendable (ServerRequest) throws -> Value
  /// Writes what ``read`` reads; `nil` for what the server's own client does not send.
  var write: (@Sendable (Value) -> RequestContent)?
}

extension RequestShape where Value == Void {
  /// Nothing.
  package static var nothing: Self {
    RequestShape(description: RequestDescription(), read: { _ in }, write: { _ in RequestContent() })
  }

  /// A form or a JWS, which is read with who has sent it.
  static func body(
    _ mediaType: String, _ schema: JSONSchema, query: (any Message.Type)? = nil, example: JSONObject? = nil
  ) -> Self {
    RequestShape(
      description: RequestDescription(
        mediaType: mediaType, schema: schema, example: example, parameters: query?.parameters ?? [])
    ) { _ in }
  }

  /// What a device says that waits for another list, which the handler reads.
  static let waiting = RequestShape(description: waitingDescription) { _ in }

  static let waitingDescription = RequestDescription(
    parameters: [
      ("If-None-Match", "The tag of the list that the device has."),
      ("Prefer", "`wait=<seconds>`: how long to wait for another list, at most 50."),
    ].map { ($0.0, "header", String.shape.schema.described($0.1), false) })
}

extension RequestShape {
  /// A message in a body.
  static func json(_ type: Value.Type, example: JSONObject? = nil) -> Self where Value: Message {
    RequestShape(
      description: RequestDescription(
        mediaType: "application/json", schema: type.shape.schema, example: example),
      checkTypes: { try requireJSON($0) }, read: { try Value(reading(JSONObject(parsing: $0.body))) },
      write: { RequestContent(body: $0.json.bytes) })
  }

  /// A message in a query.
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

  /// A JSON body that a parser of another module reads; tests hold accepted requests against the message.
  static func bytes(describedBy type: any Message.Type, example: JSONObject? = nil) -> Self
  where Value == [UInt8] {
    RequestShape(
      description: RequestDescription(
        mediaType: "application/json", schema: type.described, example: example),
      checkTypes: { try requireJSON($0) }, read: { $0.body })
  }
}

extension Message {
  /// What the description says of it.
  static var described: JSONSchema { shape.schema }

  /// Its members in a query.
  fileprivate static var parameters: [(name: String, place: String, schema: JSONSchema, isRequired: Bool)] {
    schema.members.map { ($0.name, "query", $0.schema, $0.isRequired) }
  }
}

/// The description of an answer that is no refusal.
package struct AnswerDescription: Sendable {
  package var status: Int
  package var text: String
  /// The body, by media type.
  var content: [(mediaType: String, schema: JSONSchema)] = []
  /// As the description has them.
  var headers: JSONObject = [:]
}

/// Sends, reads and describes what a handler returns.
package struct AnswerShape<Value: Sendable>: Sendable {
  let answers: [AnswerDescription]
  let response: @Sendable (Value) -> ServerResponse
  /// Reads what a server has sent; `nil` for what is no message.
  var read: (@Sendable (JSONObject) throws -> Value)?
}

extension AnswerShape {
  /// A message, with further headers.
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

  /// A message with a schema of this endpoint.
  static func json(_ schema: MessageSchema<Value>, _ text: String, status: Int = 200) -> Self {
    AnswerShape(
      answers: [
        AnswerDescription(status: status, text: text, content: [("application/json", schema.described)])
      ], response: { .json(schema.write($0), status: status) }, read: { try schema.read($0, "") })
  }

  /// A message about what was made.
  static func created(_ type: Value.Type, _ text: String) -> Self where Value: Message {
    json(type, text, status: 201)
  }

  /// An object that is made elsewhere.
  ///
  /// Tests hold answers against the description.
  static func object(describedBy type: any Message.Type, _ text: String) -> Self where Value == JSONObject {
    AnswerShape(answers: [
      AnswerDescription(status: 200, text: text, content: [("application/json", type.described)])
    ]) { .json($0) }
  }

  /// JSON that is written elsewhere.
  ///
  /// Tests hold answers against the description.
  static func bytes(describedBy type: any Message.Type, _ text: String) -> Self
  where Value == [UInt8] {
    AnswerShape(answers: [
      AnswerDescription(status: 200, text: text, content: [("application/json", type.described)])
    ]) { .bytes($0, type: "application/json") }
  }

  /// The one state that something has then.
  static func status(_ status: String, _ text: String) -> Self where Value == Void {
    json(
      MessageSchema({ (_: String) in () }) { Member("status", { (_: Void) in status }, .oneOf(status)) }, text
    )
  }

  /// The id of a transaction, and the one state that it has then.
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

  /// What the handler puts together itself.
  ///
  /// Tests hold answers against the description.
  static func response(_ schema: JSONSchema, _ text: String) -> Self where Value == ServerResponse {
    response([AnswerDescription(status: 200, text: text, content: [("application/json", schema)])])
  }

  /// What the handler puts together itself.
  static func response(_ answers: [AnswerDescription]) -> Self where Value == ServerResponse {
    AnswerShape(answers: answers) { $0 }
  }
}
