/// Carries one HTTP request to a server and its answer back.
///
/// Back ends: ``CurlTransport`` (libcurl) on Linux; URLSession on Apple platforms. Every back end keeps these
/// rules: only `https` URLs, refused before a byte is sent otherwise; TLS 1.2 or newer; the chain and the host
/// name are always verified; redirects are never followed; no cookies but the request's own; a request leaves at most once.
public protocol HTTPTransport: Sendable {
  /// Sends a request and waits for the whole answer.
  ///
  /// A status of 400 or above is an answer, not a failure. Cancelling the task ends the exchange promptly.
  ///
  /// - Parameter request: What to send; checked before a connection is made.
  /// - Returns: The final answer: never a 1xx one, and a redirect only where the request takes one.
  /// - Throws: ``TransportFailure``, which says whether and how to try again.
  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse
}
