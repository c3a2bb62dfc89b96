import SignetHTTPClient

/// The answer of a push service, interpreted in the same way for all of them.
struct PushAnswer {
  let response: HTTPResponse

  /// Sends a request; a temporary transport error becomes a retryable failure.
  init(
    to request: HTTPRequest, over transport: any HTTPTransport
  ) async throws(PushFailure) {
    do { response = try await transport.send(request) } catch {
      guard error.mayPass else { throw .refused(reason: error.description) }
      throw .tryAgain(afterSeconds: nil, reason: error.description)
    }
  }

  var status: Int { response.status }

  /// Returns the failure for a status without a specific meaning: retryable if the service is at fault or busy.
  func failure(_ reason: String? = nil) -> PushFailure {
    let told = reason.map(Self.harmless)
    let text = told.map { "status \(status), \($0)" } ?? "status \(status)"
    return response.mayPass
      ? .tryAgain(afterSeconds: response.retryAfterSeconds, reason: text) : .refused(reason: text)
  }

  /// Returns the reason if it is one word: other text from a service must not get into logs.
  private static func harmless(_ reason: String) -> String {
    let isWord =
      (1...64).contains(reason.utf8.count)
      && reason.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F
      }
    return isWord ? reason : "with a reason that is no word"
  }
}
