package import SignetJSON

/// A message in transit between an app and its client (UAF Application API section 4.1).
package struct UAFMessage: Hashable, Sendable {
  /// The JSON text of a list of messages.
  package let protocolMessage: String
  /// Additional data for the client; not interpreted.
  package let additionalData: JSONValue?

  package init(protocolMessage: String, additionalData: JSONValue? = nil) {
    (self.protocolMessage, self.additionalData) = (protocolMessage, additionalData)
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    protocolMessage = try reader.string("uafProtocolMessage", 1...(1 << 20))
    additionalData = reader.object["additionalData"]
  }

  package var json: JSONObject {
    var object: JSONObject = ["uafProtocolMessage": .string(protocolMessage)]
    object.setOptional("additionalData", additionalData)
    return object
  }
}
