/// Why the server or the router answers a request instead of a handler.
package enum RequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The request line, a header field or the framing is not valid HTTP/1.1, or there are two `Authorization` fields (400).
  case malformed
  /// No route has this path (404).
  case notFound
  /// The path exists, but not for this method (405); the `Allow` field lists `allowed`.
  case methodNotAllowed(allowed: [String])
  /// The body has no `Content-Length`, because it is sent in chunks (411).
  case lengthRequired
  /// The body is larger than the limit (413).
  case bodyTooLarge
  /// The request line is longer than the limit (414).
  case targetTooLong
  /// The header fields exceed the limit in size or number (431).
  case headersTooLarge
  /// A transfer coding other than `chunked` (501); `chunked` itself is ``lengthRequired``.
  case unsupportedTransferCoding
  /// A version other than HTTP/1.0 and HTTP/1.1 (505).
  case unsupportedVersion
  /// The handler's response cannot be sent: a header value would break its line, or the status is invalid (500).
  case invalidResponse
  /// The limit on connections, in total or from this address, is reached (503).
  case tooManyConnections
  /// The server is stopping (503).
  case stopping
  /// The handler did not answer before its deadline (503).
  case handlerTimedOut

  /// The status code.
  package var status: Int {
    switch self {
    case .malformed: 400
    case .notFound: 404
    case .methodNotAllowed: 405
    case .lengthRequired: 411
    case .bodyTooLarge: 413
    case .targetTooLong: 414
    case .headersTooLarge: 431
    case .invalidResponse: 500
    case .unsupportedTransferCoding: 501
    case .tooManyConnections, .stopping, .handlerTimedOut: 503
    case .unsupportedVersion: 505
    }
  }

  /// The cause and the remedy.
  package var description: String {
    switch self {
    case .malformed: "the request is not valid HTTP/1.1; correct it before sending it again"
    case .notFound: "nothing is at this path; check the URL"
    case .methodNotAllowed(let allowed): "use one of \(allowed.joined(separator: ", ")) here"
    case .lengthRequired: "chunked bodies are not accepted; send the body with a Content-Length"
    case .bodyTooLarge: "the body is too large; send less"
    case .targetTooLong: "the request line is too long; shorten the URL"
    case .headersTooLarge: "the header fields are too large; send fewer or shorter ones"
    case .unsupportedTransferCoding:
      "transfer codings are not accepted; send the body as it is, with a Content-Length"
    case .unsupportedVersion: "only HTTP/1.1 and HTTP/1.0 are understood"
    case .invalidResponse: "the server made a response it cannot send; report this to its operator"
    case .tooManyConnections: "there are too many connections; close some and try again"
    case .stopping: "the server is stopping; try again"
    case .handlerTimedOut: "the server did not finish in time; try again"
    }
  }

  /// The default answer without a ``RefusalResponder``: the status and no body.
  package var plainResponse: ServerResponse { ServerResponse(status: status) }

  /// Returns the responder's answer with `Allow` added, or the plain one if the responder's cannot be sent.
  func response(by responder: RefusalResponder) -> ServerResponse {
    var response = responder(self)
    if case .methodNotAllowed(let allowed) = self {
      response.headers["Allow"] = allowed.joined(separator: ", ")
    }
    return response.isValid ? response : plainResponse
  }

  /// Returns the reason phrase for a status that ``ServerResponse/closingMessage`` can send.
  static func reasonPhrase(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 413: "Content Too Large"
    default: "Refused"
    }
  }
}

/// Makes the response to a refusal, so that all errors of a service have one format (for example RFC 9457).
///
/// It is called on any thread and must not block. The server adds `Allow`, which RFC 9110 section 15.5.6 requires with 405.
package typealias RefusalResponder = @Sendable (RequestRefusal) -> ServerResponse
