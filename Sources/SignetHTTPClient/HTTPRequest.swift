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
