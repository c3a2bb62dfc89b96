internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// The server's state of one client connection, from accept to close.
///
/// Other threads resume or shut down the connection only under the lock, so they finish before the callback after which MHD
/// frees it. The lock is never held while a handler, a responder or a task's cancellation runs.
final class Connection: Sendable {
  /// The socket; open while `State.isOpen`.
  let descriptor: Int32
  let peer: PeerAddress
  /// True if the connection exceeds a limit: its first request is refused.
  let isRefused: Bool
  /// Wakes the connection's polling thread when an answer is ready.
  let wakeUps: WakeUps<ConnectionHandle>
  /// The requests of its polling thread of which only the request line has arrived.
  let heads: UnreadHeads
  private let state: Mutex<State>

  private struct State {
    /// True between MHD's started and closed callbacks: only then does the descriptor belong to this connection.
    var isOpen = false
    var phase = Phase.idle
    /// The end of the phase, in the server's time.
    var deadline: Duration
    var handling: Handling?

    /// Takes the response, which is to be sent until a deadline; `nil` if it is not ready.
    mutating func takeResponse(sendingUntil deadline: Duration) -> ServerResponse? {
      guard let outcome = handling?.outcome else { return nil }
      handling = nil
      phase = .sending
      self.deadline = deadline
      return outcome
    }
  }

  private enum Phase {
    /// The request line of the next request has not arrived.
    case idle
    /// The request line has arrived, but not the whole request.
    case receiving
    /// A handler processes the request.
    case handling
    /// The response is being sent.
    case sending
  }

  private struct Handling {
    let handler: RequestHandler
    /// Cancels the handler when the client has left or the deadline has passed.
    var cancel: (@Sendable () -> Void)?
    var isSuspended = false
    var isCancelled = false
    var outcome: ServerResponse?
  }

  init(
    descriptor: Int32, peer: PeerAddress, wakeUps: WakeUps<ConnectionHandle>, heads: UnreadHeads,
    isRefused: Bool, deadline: Duration
  ) {
    self.descriptor = descriptor
    self.peer = peer
    self.wakeUps = wakeUps
    self.heads = heads
    self.isRefused = isRefused
    state = Mutex(State(deadline: deadline))
  }

  // MARK: - On the polling thread, inside callbacks

  func opened(isDraining: @Sendable () -> Bool) {
    state.withLock { state in
      state.isOpen = true
      if isDraining() { shutdown(descriptor, Int32(SHUT_RD)) }
    }
  }

  /// Marks the connection as closed; no other thread uses it afterwards.
  func closed() {
    state.withLock { $0.isOpen = false }
  }

  func receives() {
    state.withLock { $0.phase = .receiving }
  }

  /// Records that a handler starts; returns false if `isRefusing`.
  func handles(_ handler: RequestHandler, deadline: Duration, isRefusing: @Sendable () -> Bool)
    -> Bool
  {
    state.withLock { state in
      guard !isRefusing() else { return false }
      state.phase = .handling
      state.deadline = deadline
      state.handling = Handling(handler: handler)
      return true
    }
  }

  /// Returns the response if it is ready; otherwise suspends the connection until it is.
  func responseOrSuspend(sendingUntil deadline: Duration) -> ServerResponse? {
    state.withLock { state in
      if let response = state.takeResponse(sendingUntil: deadline) { return response }
      guard let handling = state.handling else { return nil }
      handling.handler.handle.suspend()
      state.handling?.isSuspended = true
      return nil
    }
  }

  /// Returns the response for which the connection was resumed.
  func takeResponse(sendingUntil deadline: Duration) -> ServerResponse? {
    state.withLock { $0.takeResponse(sendingUntil: deadline) }
  }

  func sends(until deadline: Duration) {
    state.withLock { state in
      state.phase = .sending
      state.deadline = deadline
    }
  }

  /// Resets the state after MHD has completed the request, successfully or not.
  func completed(nextUntil deadline: Duration, isDraining: @Sendable () -> Bool) {
    state.withLock { state in
      state.phase = .idle
      state.deadline = deadline
      state.handling = nil
      if state.isOpen, isDraining() { shutdown(descriptor, Int32(SHUT_RD)) }
    }
  }

  // MARK: - On any thread

  /// Stores the response, unless there is one already; the polling thread sends it.
  @discardableResult
  func answer(_ handler: RequestHandler, _ response: ServerResponse) -> Bool {
    let (isAnswer, isSuspended) = state.withLock { state -> (Bool, Bool) in
      guard state.handling?.handler === handler, state.handling?.outcome == nil else {
        return (false, false)
      }
      state.handling?.outcome = response
      defer { state.handling?.isSuspended = false }
      return (true, state.handling?.isSuspended == true)
    }
    // Outside the lock, which the polling thread takes as soon as it wakes. MHD never frees a suspended connection.
    if isSuspended { wakeUps.add(handler.handle) }
    return isAnswer
  }

  /// Sets the cancellation callback of a request; calls it at once if the request is already cancelled.
  func whenCancelled(_ handler: RequestHandler, replacing: Bool, _ cancel: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      guard state.handling?.handler === handler, state.handling?.outcome == nil else { return false }
      if replacing || state.handling?.cancel == nil { state.handling?.cancel = cancel }
      return state.handling?.isCancelled == true
    }
    if isCancelled { cancel() }
  }

  enum CheckResult {
    case nothing
    /// The handler's deadline has passed.
    case overdue(RequestHandler)
    /// The client of the handler has left.
    case clientDisconnected((@Sendable () -> Void)?)
  }

  /// Enforces the deadlines for receiving and sending, and checks whether the handler's client is still connected.
  func check(now: Duration) -> CheckResult {
    state.withLock { state in
      guard state.isOpen else { return .nothing }
      let isOverdue = now >= state.deadline
      guard let handling = state.handling else {
        if isOverdue {
          shutdown(descriptor, Int32(SHUT_RDWR))
        } else if state.phase != .sending, hasPeerLeft {
          // MHD takes a short read for the end of the available data, and so misses an end of stream that came with the last
          // bytes. This call wakes MHD; it reads to the end, and no unread bytes are lost.
          shutdown(descriptor, Int32(SHUT_RD))
        }
        return .nothing
      }
      if isOverdue, handling.outcome == nil { return .overdue(handling.handler) }
      guard !handling.isCancelled, handling.outcome == nil, hasPeerLeft else { return .nothing }
      state.handling?.isCancelled = true
      return .clientDisconnected(handling.cancel)
    }
  }

  /// Closes the reading side of a connection between requests; requests that have arrived are still answered.
  func drain() {
    state.withLock { state in
      if state.isOpen, state.phase == .idle { shutdown(descriptor, Int32(SHUT_RD)) }
    }
  }

  /// Closes a connection whose request is incomplete; returns the handler of an unanswered request.
  func abandon() -> RequestHandler? {
    state.withLock { state in
      if state.isOpen, state.phase == .idle || state.phase == .receiving {
        shutdown(descriptor, Int32(SHUT_RDWR))
      }
      return state.handling?.handler
    }
  }

  /// Marks the handler as cancelled and returns its callback for the caller to call; a callback set later is called at once.
  func handlerToCancel() -> (@Sendable () -> Void)? {
    state.withLock { state in
      state.handling?.isCancelled = true
      return state.handling?.cancel
    }
  }

  /// True if the client has closed at least its sending side; a suspended connection shows no more than that.
  private var hasPeerLeft: Bool { signet_peer_has_left(descriptor) != 0 }
}
