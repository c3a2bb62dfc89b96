internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// One client connection as the server sees it, from accept to close.
///
/// The lock orders everything that other threads do to the connection (resume it, shut it down) before the
/// callback after which MHD frees it. It is never held while a handler, a responder or a task's
/// cancellation runs.
final class Connection: Sendable {
  /// The socket; open while `State.isOpen`.
  let descriptor: Int32
  let peer: PeerAddress
  /// Whether there were too many connections already: its first request is refused.
  let isTurnedAway: Bool
  /// How the connection's polling thread hears of answers.
  let wakeUps: WakeUps<ConnectionHandle>
  /// The requests of its polling thread that nothing but the request line was seen of.
  let heads: UnreadHeads
  private let state: Mutex<State>

  private struct State {
    /// Between MHD's started and closed callbacks: only then is the descriptor known to be this connection's.
    var isOpen = false
    var phase = Phase.idle
    /// When the phase has to be over, in the time of the server.
    var deadline: Duration
    var handling: Handling?
  }

  private enum Phase {
    /// No request line of the next request yet.
    case idle
    /// A request line, and not yet the whole request.
    case receiving
    /// A handler has the request.
    case handling
    /// A response is on its way.
    case sending
  }

  private struct Handling {
    let handler: RequestHandler
    /// Tells the handler that nobody waits any more.
    var cancel: (@Sendable () -> Void)?
    var isSuspended = false
    var isCancelled = false
    var outcome: ServerResponse?
  }

  init(
    descriptor: Int32, peer: PeerAddress, wakeUps: WakeUps<ConnectionHandle>, heads: UnreadHeads,
    isTurnedAway: Bool, deadline: Duration
  ) {
    self.descriptor = descriptor
    self.peer = peer
    self.wakeUps = wakeUps
    self.heads = heads
    self.isTurnedAway = isTurnedAway
    state = Mutex(State(deadline: deadline))
  }

  // MARK: - On the polling thread, inside callbacks

  func opened(isDraining: @Sendable () -> Bool) {
    state.withLock { state in
      state.isOpen = true
      if isDraining() { shutdown(descriptor, Int32(SHUT_RD)) }
    }
  }

  /// After this no other thread touches the connection.
  func closed() {
    state.withLock { $0.isOpen = false }
  }

  func receives() {
    state.withLock { $0.phase = .receiving }
  }

  /// Notes that a handler is about to run, unless `isRefusing`.
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

  /// The response, if there is one by now; otherwise suspends the connection until there is.
  func responseOrSuspend(sendingUntil deadline: Duration) -> ServerResponse? {
    state.withLock { state in
      guard let outcome = state.handling?.outcome else {
        guard let handling = state.handling else { return nil }
        handling.handler.handle.suspend()
        state.handling?.isSuspended = true
        return nil
      }
      state.handling = nil
      state.phase = .sending
      state.deadline = deadline
      return outcome
    }
  }

  /// The response for which the connection was resumed.
  func takeResponse(sendingUntil deadline: Duration) -> ServerResponse? {
    state.withLock { state in
      guard let outcome = state.handling?.outcome else { return nil }
      state.handling = nil
      state.phase = .sending
      state.deadline = deadline
      return outcome
    }
  }

  func sends(until deadline: Duration) {
    state.withLock { state in
      state.phase = .sending
      state.deadline = deadline
    }
  }

  /// The request is over, one way or another.
  func completed(nextUntil deadline: Duration, isDraining: @Sendable () -> Bool) {
    state.withLock { state in
      state.phase = .idle
      state.deadline = deadline
      state.handling = nil
      if state.isOpen, isDraining() { shutdown(descriptor, Int32(SHUT_RD)) }
    }
  }

  // MARK: - On any thread

  /// Answers the request, unless it was answered before; the polling thread does the rest.
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
    // Outside the lock, which the polling thread takes as soon as it wakes. MHD frees no connection that is suspended.
    if isSuspended { wakeUps.add(handler.handle) }
    return isAnswer
  }

  /// Sets what is called when nobody waits for the answer any more; calls it where that is so already.
  func whenCancelled(_ handler: RequestHandler, replacing: Bool, _ cancel: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      guard state.handling?.handler === handler, state.handling?.outcome == nil else { return false }
      if replacing || state.handling?.cancel == nil { state.handling?.cancel = cancel }
      return state.handling?.isCancelled == true
    }
    if isCancelled { cancel() }
  }

  /// What the regular check found.
  enum Finding {
    case nothing
    /// The handler's deadline has passed.
    case overdue(RequestHandler)
    /// Nobody waits for the handler any more.
    case deserted((@Sendable () -> Void)?)
  }

  /// Enforces the deadlines of receiving and sending, and looks whether the client of a handler is still there.
  func check(now: Duration) -> Finding {
    state.withLock { state in
      guard state.isOpen else { return .nothing }
      let isOverdue = now >= state.deadline
      guard let handling = state.handling else {
        if isOverdue {
          shutdown(descriptor, Int32(SHUT_RDWR))
        } else if state.phase != .sending, hasPeerLeft {
          // MHD takes a short read for the end of what there is, and so misses an end that came with the last
          // bytes. This wakes it; it reads on to the end, and what was unread is not lost.
          shutdown(descriptor, Int32(SHUT_RD))
        }
        return .nothing
      }
      if isOverdue, handling.outcome == nil { return .overdue(handling.handler) }
      guard !handling.isCancelled, handling.outcome == nil, hasPeerLeft else { return .nothing }
      state.handling?.isCancelled = true
      return .deserted(handling.cancel)
    }
  }

  /// Ends the reading side of a connection between requests; what has arrived is still answered.
  func drain() {
    state.withLock { state in
      if state.isOpen, state.phase == .idle { shutdown(descriptor, Int32(SHUT_RD)) }
    }
  }

  /// Ends a connection whose request is not complete, and gives the handler of one that is not answered.
  func abandon() -> RequestHandler? {
    state.withLock { state in
      if state.isOpen, state.phase == .idle || state.phase == .receiving {
        shutdown(descriptor, Int32(SHUT_RDWR))
      }
      return state.handling?.handler
    }
  }

  /// What tells the handler that nobody waits any more, to be called by the caller; one that is set later is called then.
  func handlerToCancel() -> (@Sendable () -> Void)? {
    state.withLock { state in
      state.handling?.isCancelled = true
      return state.handling?.cancel
    }
  }

  /// Whether the client closed at least its sending side (all that can be known of a suspended connection).
  private var hasPeerLeft: Bool { signet_peer_has_left(descriptor) != 0 }
}
