package import SignetJSON

/// A client's response in transit to the server (UAF Application API section 8.2).
package struct SendUAFResponse: Hashable, Sendable {
  /// The JSON text of a list of responses.
  package let response: String
  package let context: String?

  package init(response: String, context: String? = nil) {
    (self.response, self.context) = (response, context)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    response = try reader.string("uafResponse", 1...(1 << 20))
    context = try reader.optionalString("context", 0...65_536)
  }

  package var json: JSONObject {
    var object: JSONObject = ["uafResponse": .string(response)]
    object.setOptional("context", context.map { .string($0) })
    return object
  }
}
