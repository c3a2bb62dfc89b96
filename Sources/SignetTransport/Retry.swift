/// How long to wait before a request is tried again.
package enum Backoff {
  /// The seconds to wait: 1, then twice as long each time, at most 32.
  ///
  /// - Parameters:
  ///   - attempts: How often it was tried, 1 or more.
  ///   - told: What the other side asked for; the longer one counts.
  /// - Returns: Seconds.
  package static func seconds(afterAttempts attempts: Int, told: Int64? = nil) -> Int64 {
    max(1 << Int64(min(max(attempts, 1), 6) - 1), told ?? 0)
  }
}

extension HTTPResponse {
  /// Whether the same request may succeed later: the server is at fault, or busy.
  package var mayPass: Bool {
    switch status {
    case 408, 425, 429, 500...599: true
    default: false
    }
  }

  /// `Retry-After` in seconds (RFC 9110 section 10.2.3), an hour at most; its other form, a date, counts as absent.
  package var retryAfterSeconds: Int64? {
    guard let text = header("Retry-After"), text.utf8.count <= 9,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text)
    else { return nil }
    return min(seconds, 3_600)
  }
}

extension TransportFailure {
  /// Whether the same request may succeed later: it is what is on the way that has failed.
  package var mayPass: Bool {
    switch self {
    case .insecureURL, .invalidRequest, .invalidConfiguration, .redirectRefused: false
    default: true
    }
  }
}
