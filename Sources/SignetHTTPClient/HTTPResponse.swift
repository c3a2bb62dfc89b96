/// A complete response of a server.
public struct HTTPResponse: Sendable {
  /// The status code, 200 to 599; a redirect only if the request accepts one (RFC 9110 section 15).
  public var status: Int
  /// Fields in the order of arrival, as (name, value), surrounding white space removed.
  public var headers: [(String, String)]
  /// The content as it was sent: the transport requests no content coding and decodes none.
  public var body: [UInt8]

  /// Creates a response, for transports and for test doubles.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: Fields as (name, value).
  ///   - body: The content.
  public init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the value of the only field with this name; ASCII case is ignored.
  ///
  /// - Parameter name: The field's name.
  /// - Returns: Nil if the field is missing or repeated: repeated fields can be read differently.
  public func header(_ name: String) -> String? {
    let lowercasedName = name.lowercased()
    let values = headers.filter { $0.0.lowercased() == lowercasedName }
    return values.count == 1 ? values.first?.1 : nil
  }
}
