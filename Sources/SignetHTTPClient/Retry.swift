/// The delay before a request is retried.
package enum Backoff {
  /// Returns the delay: 1 second, doubled with each attempt, at most 32 seconds.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts so far, 1 or more.
  ///   - requested: The delay that the server requested; the longer one applies.
  /// - Returns: Seconds.
  package static func seconds(afterAttempts attempts: Int, requested: Int64? = nil) -> Int64 {
    max(1 << Int64(min(max(attempts, 1), 6) - 1), requested ?? 0)
  }
}

extension HTTPResponse {
  /// True if the same request may succeed later: the server has an error or is busy.
  package var mayPass: Bool {
    switch status {
    case 408, 425, 429, 500...599: true
    default: false
    }
  }

  /// `Retry-After` in seconds (RFC 9110 section 10.2.3), at most an hour; a date counts as absent.
  package var retryAfterSeconds: Int64? {
    guard let text = header("Retry-After"), text.utf8.count <= 9,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text)
    else { return nil }
    return min(seconds, 3_600)
  }
}

extension TransportFailure {
  /// True if the same request may succeed later: the request and the settings are not the cause.
  package var mayPass: Bool {
    switch self {
    case .insecureURL, .invalidRequest, .invalidConfiguration, .redirectRefused: false
    default: true
    }
  }
}
