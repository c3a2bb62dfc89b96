package import SignetJSON

/// A server's request with its metadata (UAF Application API section 8.2).
package struct ReturnUAFRequest: Hashable, Sendable {
  /// The code as received; ``UAFStatus`` lists the known ones.
  package let statusCode: Int
  /// The JSON text of a list of requests.
  package let request: String?
  package let operation: UAFOperation?
  /// The lifetime of the request, in milliseconds.
  package let lifetimeMillis: Int64?

  package init(
    _ status: UAFStatus, request: String? = nil, operation: UAFOperation? = nil, lifetimeMillis: Int64? = nil
  ) {
    statusCode = status.rawValue
    self.request = request
    self.operation = operation
    self.lifetimeMillis = lifetimeMillis
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    statusCode = Int(try reader.number("statusCode", as: UInt16.self))
    request = try reader.optionalString("uafRequest", 1...(1 << 20))
    operation = try reader.operation()
    lifetimeMillis = try reader.optionalNumber("lifetimeMillis")
    if let lifetimeMillis, lifetimeMillis < 0 { throw reader.failure("lifetimeMillis", .range) }
  }

  package var json: JSONObject {
    var object: JSONObject = ["statusCode": .number(statusCode)]
    object.setOptional("uafRequest", request.map { .string($0) })
    object.setOptional("op", operation.map { .string($0.rawValue) })
    object.setOptional("lifetimeMillis", lifetimeMillis.map { .integer($0) })
    return object
  }
}
