/// A server's whole answer.
public struct HTTPResponse: Sendable {
  /// The status code, 200 to 599; a redirect only where the request takes one (RFC 9110 section 15).
  public var status: Int
  /// Fields in the order of arrival, as (name, value), surrounding white space removed.
  public var headers: [(String, String)]
  /// The content as it was sent: no content coding is asked for, and none is undone.
  public var body: [UInt8]

  /// Creates an answer; for transports and for stand-ins in tests.
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

  /// The value of the only field with this name, compared without regard to ASCII case.
  ///
  /// - Parameter name: The field's name.
  /// - Returns: Nil where the field is missing or comes more than once: two answers to one question are none.
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    let values = headers.filter { $0.0.lowercased() == wanted }
    return values.count == 1 ? values.first?.1 : nil
  }
}
