internal import CMicroHTTPD

/// One request and its response.
///
/// MHD's `con_cls` retains it once, from the request line to the completed callback. Its variables belong to the polling
/// thread; data shared with other threads is behind the ``Connection``'s lock.
final class RequestHandler: @unchecked Sendable {
  let handle: ConnectionHandle
  private let core: ServerCore
  private let connection: Connection
  private let target: [UInt8]
  private var head: RequestHead?
  /// Method and path of the request in a handler.
  private var line = (method: "", path: "")
  /// The pattern of its route, for the log.
  private var pattern: String?
  private var body: [UInt8] = []
  private var stage = Stage.head

  private enum Stage {
    case head
    case body
    /// The request was refused in the middle of the body; the value is the number of bytes still to read and discard.
    case discarding(Int)
    case handling
    case responded
  }

  init(core: ServerCore, connection: Connection, handle: ConnectionHandle, target: [UInt8]) {
    self.core = core
    self.connection = connection
    self.handle = handle
    self.target = target
    connection.receives()
  }

  /// True before the first call of the access handler.
  var isNew: Bool { if case .head = stage { true } else { false } }

  /// Handles the first call of the access handler: the head has arrived.
  ///
  /// - Returns: `false` if the connection must be closed.
  func headArrived(_ line: RequestHead.Line) -> Bool {
    connection.heads.remove(self)
    do throws(RequestRefusal) {
      let head = try unsafe RequestHead(line, target: target, handle: handle, limits: core.limits)
      self.head = head
      stage = .body
      guard case .length(let count) = head.framing else { return true }
      guard count <= UInt64(core.limits.bodyByteCount) else {
        // A client that waits for "100 Continue" has not sent a body that must be read.
        if head.expectsContinue { return refuse(.bodyTooLarge) }
        refuseAndDiscard(.bodyTooLarge)
        return true
      }
      body.reserveCapacity(Int(count))
      return true
    } catch {
      return refuse(error)
    }
  }

  func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch stage {
    case .body:
      unsafe body.append(contentsOf: bytes)
      return body.count <= core.limits.bodyByteCount  // its length was checked against this
    case .discarding(let rest):
      stage = .discarding(rest - bytes.count)
      return rest > bytes.count
    case .head, .handling, .responded: return false
    }
  }

  /// Handles the last call: the request is complete, or the connection was resumed because its response is ready.
  func requestArrived() -> Bool {
    switch stage {
    case .body:
      guard let head else { return false }
      guard !connection.isRefused else { return refuse(.tooManyConnections) }
      return run(takeRequest(head))
    case .handling:
      connection.wakeUps.resumeOthers(after: handle)
      guard let response = connection.takeResponse(sendingUntil: core.responseDeadline) else { return false }
      return send(response)
    case .head, .discarding, .responded: return false
    }
  }

  func completed() {
    connection.heads.remove(self)
    // If a resumed connection broke off, this callback replaces the one that resumes the others.
    if case .handling = stage { connection.wakeUps.resumeOthers(after: handle) }
    connection.completed(nextUntil: core.requestDeadline, isDraining: { [core] in core.isDraining })
  }

  /// Moves the request out: while the handler runs, only the data for the log is kept here.
  private func takeRequest(_ head: RequestHead) -> ServerRequest {
    let request = ServerRequest(
      method: head.method, path: head.target.path, query: head.target.query, headers: head.headers,
      body: body, remoteAddress: connection.peer.text)
    line = (head.method, head.target.path.raw)
    body = []
    self.head = nil
    return request
  }

  /// Runs the handler on this thread; a handler that does not wait needs no other thread and no suspension.
  private func run(_ request: ServerRequest) -> Bool {
    stage = .handling
    let mayHandle = connection.handles(
      self, deadline: core.handlerDeadline, isRefusing: { [core] in core.isRefusing })
    guard mayHandle else { return refuse(.stopping) }
    core.handler(request, Responder(self))
    guard let response = connection.responseOrSuspend(sendingUntil: core.responseDeadline) else {
      return true
    }
    return send(response)
  }

  // MARK: On any thread

  func answer(_ response: ServerResponse) { connection.answer(self, response) }

  func whenCancelled(replacing: Bool, _ cancel: @escaping @Sendable () -> Void) {
    connection.whenCancelled(self, replacing: replacing, cancel)
  }

  // MARK: On the polling thread

  /// Records the route of the request before its handler runs.
  func routed(by pattern: String) { self.pattern = pattern }

  private func send(_ response: ServerResponse) -> Bool {
    stage = .responded
    core.observe(
      AnsweredRequest(
        method: line.method, path: line.path, pattern: pattern, remoteAddress: connection.peer.text,
        status: response.status))
    let response =
      response.prepared != nil || response.isValid ? response : core.response(to: .invalidResponse)
    return handle.queue(response, closing: core.isDraining)
  }

  /// Answers and closes: after a refusal the start of the next request is unknown.
  private func refuse(_ refusal: RequestRefusal) -> Bool {
    stage = .responded
    observe(refusal)
    connection.sends(until: core.responseDeadline)
    return handle.queue(core.response(to: refusal), closing: true)
  }

  /// Answers while the client is still sending, then reads on for a limited number of bytes.
  ///
  /// Closing with unread bytes would reset the connection and could discard the answer.
  private func refuseAndDiscard(_ refusal: RequestRefusal) {
    stage = .discarding(Self.discardedByteCount)
    body = []
    observe(refusal)
    handle.sendLast(core.response(to: refusal).closingMessage)
  }

  /// Answers before MHD refuses the `Content-Length` of a complete head; MHD's own page would contain its head twice.
  ///
  /// The answer ends the sending side: MHD finds that it cannot write, and closes.
  func refusedByLibrary() {
    connection.heads.remove(self)
    stage = .responded
    observe(.malformed)
    connection.sends(until: core.responseDeadline)
    handle.sendLast(core.response(to: .malformed).closingMessage)
  }

  private func observe(_ refusal: RequestRefusal) {
    core.observe(
      RefusedRequest(remoteAddress: connection.peer.text, status: refusal.status, reason: refusal.description)
    )
  }

  private static let discardedByteCount = 1024 * 1024
}
