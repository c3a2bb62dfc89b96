/// The request methods that are spoken (RFC 9110 section 9.3, RFC 5789).
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

/// A request as the caller means it; a transport checks it before it connects.
public struct HTTPRequest: Sendable {
  /// What is asked for.
  public var method: HTTPMethod
  /// An absolute `https` URL in ASCII, at most 2048 bytes, without user information and fragment.
  public var url: String
  /// Fields in order; names are RFC 9110 tokens, values printable ASCII.
  ///
  /// The transport itself writes `Host`, `Content-Length` and what else frames the message: those are refused.
  public var headers: [(String, String)]
  /// Cookies that go out with this request, in one field; the transport neither keeps them nor adds others.
  public var cookies: [RequestCookie] = []
  /// The content; empty for none.
  ///
  /// Not allowed with `GET` and `HEAD`.
  public var body: [UInt8]
  /// Whether a redirect is an answer; else it is a failure.
  ///
  /// It is never followed: who asks for it decides where to go on.
  public var takesRedirect = false

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - method: What is asked for.
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
