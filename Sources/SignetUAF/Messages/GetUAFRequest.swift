package import SignetJSON

/// An app's query for a server's request (UAF Application API section 8.2).
package struct GetUAFRequest: Hashable, Sendable {
  package let operation: UAFOperation?
  /// The previously answered request, if this query is for the next one.
  package let previousRequest: String?
  /// The context for the server, in a text of the server's format.
  package let context: String?

  package init(operation: UAFOperation?, previousRequest: String? = nil, context: String? = nil) {
    self.operation = operation
    self.previousRequest = previousRequest
    self.context = context
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    operation = try reader.operation()
    previousRequest = try reader.optionalString("previousRequest", 0...(1 << 20))
    context = try reader.optionalString("context", 0...65_536)
  }

  package var json: JSONObject {
    var object = JSONObject()
    object.setOptional("op", operation.map { .string($0.rawValue) })
    object.setOptional("previousRequest", previousRequest.map { .string($0) })
    object.setOptional("context", context.map { .string($0) })
    return object
  }
}
