/// The supported request methods (RFC 9110 section 9.3, RFC 5789).
public enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
  /// Reads.
  case get = "GET"
  /// Reads the headers only.
  case head = "HEAD"
  /// Submits.
  case post = "POST"
  /// Replaces.
  case put = "PUT"
  /// Changes in part.
  case patch = "PATCH"
  /// Removes.
  case delete = "DELETE"
}

/// A caller's request; a transport validates it before it connects.
public struct HTTPRequest: Sendable {
  /// The request method.
  public var method: HTTPMethod
  /// An absolute `https` URL in ASCII, at most 2048 bytes, without user information and fragment.
  public var url: String
  /// The header fields in order; names are RFC 9110 tokens, values printable ASCII.
  ///
  /// The transport itself writes `Host`, `Content-Length` and all other fields that frame the message: those are rejected
  /// here.
  public var headers: [(String, String)]
  /// Cookies for this request, in one field; the transport neither stores them nor adds others.
  public var cookies: [RequestCookie] = []
  /// The content; empty for none.
  ///
  /// Not allowed with `GET` and `HEAD`.
  public var body: [UInt8]
  /// True if a redirect is returned as a response; otherwise it is a failure.
  ///
  /// The transport never follows it: the caller decides.
  public var acceptsRedirect = false

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - method: The request method.
  ///   - url: An absolute `https` URL.
  ///   - headers: Fields as (name, value).
  ///   - body: The content.
  public init(
    method: HTTPMethod = .get, url: String, headers: [(String, String)] = [], body: [UInt8] = []
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// A cookie for one request (RFC 6265 section 4.2); a transport itself stores none.
public struct RequestCookie: Hashable, Sendable {
  /// The cookie's name, a token.
  public let name: String
  /// The cookie's value.
  public let value: String

  /// Creates a cookie; `nil` if it cannot be sent as one (RFC 6265 section 4.1.1).
  ///
  /// - Parameters:
  ///   - name: A token of at most 128 bytes.
  ///   - value: Printable ASCII of at most 4,096 bytes without blanks, commas, semicolons and backslashes.
  public init?(name: String, value: String) {
    guard (1...128).contains(name.utf8.count), name.utf8.allSatisfy(CheckedRequest.isTokenByte),
      value.utf8.count <= 4_096,
      value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && ![0x2C, 0x3B, 0x5C].contains($0) })
    else { return nil }
    (self.name, self.value) = (name, value)
  }
}
