import SignetTransport

/// What a push service answered, read the same way for all of them.
struct PushAnswer {
  let response: HTTPResponse

  /// Sends a request; what keeps it from arriving is worth another try.
  init(
    to request: HTTPRequest, over transport: any HTTPTransport
  ) async throws(PushFailure) {
    do { response = try await transport.send(request) } catch {
      guard error.mayPass else { throw .refused(reason: error.description) }
      throw .tryAgain(afterSeconds: nil, reason: error.description)
    }
  }

  var status: Int { response.status }

  /// A failure of which nothing but the status is known: worth another try where the service is at fault, or busy.
  func failure(_ reason: String? = nil) -> PushFailure {
    let told = reason.map(Self.harmless)
    let text = told.map { "status \(status), \($0)" } ?? "status \(status)"
    return response.mayPass
      ? .tryAgain(afterSeconds: response.retryAfterSeconds, reason: text) : .refused(reason: text)
  }

  /// A service's word, as far as it is one: what else it sends stays out of logs.
  private static func harmless(_ reason: String) -> String {
    let isWord =
      (1...64).contains(reason.utf8.count)
      && reason.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F
      }
    return isWord ? reason : "with a reason that is no word"
  }
}
