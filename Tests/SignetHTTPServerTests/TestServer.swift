import SignetHTTPServer
import Synchronization

/// Starts a plaintext server on a free port, runs `body` with the port and stops the server.
@discardableResult
func withServer<R>(
  limits: ServerLimits = ServerLimits(), threadCount: Int = 1,
  security: HTTPServerConfiguration.Security = .insecurePlaintext,
  clock: any Clock<Duration> = ContinuousClock(),
  handler: @escaping ServerHandler, _ body: (UInt16) async throws -> R
) async throws -> R {
  let server = try HTTPServer(
    HTTPServerConfiguration(security: security, limits: limits, threadCount: threadCount), clock: clock,
    handler: handler)
  let port = try server.start()
  do {
    let result = try await body(port)
    await server.stop(grace: .seconds(10))
    return result
  } catch {
    await server.stop(grace: .zero)
    throw error
  }
}

/// The default limits with a test's changes.
func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
  var limits = ServerLimits()
  change(&limits)
  return limits
}

/// Records the requests that reached a handler.
final class Recorder: Sendable {
  private let requests = Mutex<[ServerRequest]>([])
  var all: [ServerRequest] { requests.withLock { $0 } }

  var handler: ServerHandler {
    { request in
      self.requests.withLock { $0.append(request) }
      return ServerResponse(status: 200, body: Array("seen".utf8))
    }
  }
}

/// A gate that opens once and then releases all waiting tasks.
actor Gate {
  private var isOpen = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  func wait() async {
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }
}

/// Opens its gate when the expected number has arrived.
actor Meeting {
  private var missing: Int
  nonisolated let gate = Gate()

  init(of count: Int) { missing = count }

  func arrive() async {
    missing -= 1
    if missing == 0 { await gate.open() }
  }
}

/// Returns when the task is cancelled.
func untilCancelled() async {
  let gate = Gate()
  await withTaskCancellationHandler {
    await gate.wait()
  } onCancel: {
    Task { await gate.open() }
  }
}
