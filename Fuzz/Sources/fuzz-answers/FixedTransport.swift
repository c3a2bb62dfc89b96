import LibFuzzer
import SignetHTTPClient
import SignetPolicy
import SignetProtocol
import SignetSystem
import SignetVault
import Synchronization

/// Answers requests with these responses, and all further ones with the last of them.
final class FixedTransport: HTTPTransport {
  private let responses: [HTTPResponse]
  private let count = Mutex(0)

  init(_ responses: [HTTPResponse]) { self.responses = responses }

  convenience init(_ response: HTTPResponse) { self.init([response]) }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let index = count.withLock { count in
      defer { count += 1 }
      return min(count, responses.count - 1)
    }
    return responses[index]
  }
}

/// A wall clock that is stopped.
struct StoppedClock: WallClock {
  let now: Int64 = 1_700_000_000
}

/// A clock of the device that is stopped.
struct StoppedDeviceClock: TrustedClock {
  let now = TrustedTime(
    boot: BootInstant(bootID: BootID(high: 1, low: 2), millisecondsSinceBoot: 1), millisecondsAwake: 1,
    wallSeconds: 1_700_000_000)
}

extension HTTPResponse {
  /// The response in an input: a line with its status, header fields, an empty line, and a body.
  init(fuzzed input: [UInt8]) {
    var lines = InputLines(input)
    let status = lines.line().flatMap { Int($0) } ?? 200
    let headers = lines.fields().map { ($0.name, $0.value) }
    self.init(status: (200...599).contains(status) ? status : 200, headers: headers, body: Array(lines.rest))
  }
}
