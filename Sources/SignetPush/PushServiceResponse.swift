import SignetHTTPClient

/// The response of a push service, interpreted in the same way for all of them.
struct PushServiceResponse {
  let http: HTTPResponse

  /// Sends a request; a temporary transport error becomes a retryable failure.
  init(
    to request: HTTPRequest, over transport: any HTTPTransport
  ) async throws(PushFailure) {
    do { http = try await transport.send(request) } catch {
      guard error.mayPass else { throw .refused(reason: error.description) }
      throw .tryAgain(afterSeconds: nil, reason: error.description)
    }
  }

  var status: Int { http.status }

  /// Returns the failure for a status without a specific meaning: retryable if the service is at fault or busy.
  func failure(_ reason: String? = nil) -> PushFailure {
    let safeReason = reason.map(Self.sanitized)
    let text = safeReason.map { "status \(status), \($0)" } ?? "status \(status)"
    return http.mayPass
      ? .tryAgain(afterSeconds: http.retryAfterSeconds, reason: text) : .refused(reason: text)
  }

  /// Returns the reason if it is one word: other text from a service must not get into logs.
  private static func sanitized(_ reason: String) -> String {
    let isIdentifier =
      (1...64).contains(reason.utf8.count)
      && reason.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F
      }
    return isIdentifier ? reason : "with a malformed reason"
  }
}
