/// A transport that sends one HTTP request to a server and returns its response.
///
/// Back ends: ``CurlTransport`` (libcurl) on Linux; URLSession on Apple platforms. Every back end keeps these rules: it
/// rejects URLs other than `https` before it sends a byte, and uses TLS 1.2 or newer. It always verifies the chain and the
/// host name. It never follows redirects, sends only the request's own cookies, and sends a request at most once.
public protocol HTTPTransport: Sendable {
  /// Sends a request and waits for the whole response.
  ///
  /// A status of 400 or above is a response, not a failure. Cancelling the task ends the exchange promptly.
  ///
  /// - Parameter request: The request; it is validated before a connection is made.
  /// - Returns: The final response: never a 1xx one, and a redirect only if the request accepts one.
  /// - Throws: ``TransportFailure``, which tells if and how to retry.
  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse
}
