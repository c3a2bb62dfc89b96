import SignetTransport

/// What a push service answered, read the same way for all of them.
struct PushAnswer {
  let response: HTTPResponse

  /// Sends a request; what keeps it from arriving is worth another try.
  init(
    to request: HTTPRequest, over transport: any HTTPTransport
  ) async throws(PushFailure) {
    do { response = try await transport.send(request) } catch {
      switch error {
      case .insecureURL, .invalidRequest, .invalidConfiguration, .redirectRefused:
        throw .refused(reason: error.description)
      default: throw .tryAgain(afterSeconds: nil, reason: error.description)
      }
    }
  }

  var status: Int { response.status }

  /// `Retry-After` in seconds (RFC 9110 section 10.2.3), an hour at most; its other form, a date, counts as absent.
  var retryAfterSeconds: Int64? {
    guard let text = response.header("Retry-After"), text.utf8.count <= 9,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text)
    else { return nil }
    return min(seconds, 3_600)
  }

  /// A failure of which nothing but the status is known: worth another try where the service is at fault, or busy.
  func failure(_ reason: String? = nil) -> PushFailure {
    let told = reason.map(Self.harmless)
    let text = told.map { "status \(status), \($0)" } ?? "status \(status)"
    return switch status {
    case 408, 425, 429, 500...599: .tryAgain(afterSeconds: retryAfterSeconds, reason: text)
    default: .refused(reason: text)
    }
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
