import SignetHTTPClient
import Testing

/// The retried failures, and the waits.
@Suite struct RetryTests {
  @Test func waitsTwiceAsLongEachTime() {
    #expect((1...8).map { Backoff.seconds(afterAttempts: $0) } == [1, 2, 4, 8, 16, 32, 32, 32])
    #expect(Backoff.seconds(afterAttempts: .max) == 32 && Backoff.seconds(afterAttempts: .min) == 1)
    #expect(
      Backoff.seconds(afterAttempts: 3, requested: 3) == 4
        && Backoff.seconds(afterAttempts: 3, requested: 60) == 60)
  }

  @Test func readsStatuses() {
    let passing = (200...599).filter { HTTPResponse(status: $0).mayPass }
    #expect(passing == [408, 425, 429] + Array(500...599))
  }

  @Test(
    arguments: [
      ("0", 0), ("20", 20), ("3601", 3_600), ("999999999", 3_600), ("1000000000", nil), ("-1", nil),
      ("", nil),
      ("1.5", nil), ("٣", nil), ("Sun, 22 Nov 2026 00:00:00 GMT", nil),
    ] as [(String, Int64?)])
  func readsWhenToTryAgain(_ text: String, _ seconds: Int64?) {
    #expect(HTTPResponse(status: 503, headers: [("retry-after", text)]).retryAfterSeconds == seconds)
    let twice = HTTPResponse(status: 503, headers: [("Retry-After", text), ("Retry-After", text)])
    #expect(twice.retryAfterSeconds == nil)
    #expect(HTTPResponse(status: 503).retryAfterSeconds == nil)
  }

  @Test(arguments: [
    (TransportFailure.insecureURL, false), (.invalidRequest(.url), false),
    (.invalidConfiguration(.limits), false), (.redirectRefused(status: 307), false), (.timedOut, true),
    (.unreachable(code: 7), true), (.wrongPin, true), (.noResponse(code: 52), true),
  ])
  func readsFailures(_ failure: TransportFailure, _ mayPass: Bool) { #expect(failure.mayPass == mayPass) }
}
