internal import Synchronization

/// The requests of one polling thread whose heads have not reached the server.
///
/// MHD refuses some heads itself, and announces that in its log without naming the connection. For a wrong `Content-Length`
/// it sends a page that has its head twice. With this list the server finds the request and answers first.
final class UnreadHeads: Sendable {
  private let handlers = Mutex<[RequestHandler]>([])

  /// Adds a request whose request line has arrived.
  func insert(_ handler: RequestHandler) { handlers.withLock { $0.append(handler) } }

  /// Removes a request when the server has its head, or MHD has completed it.
  func remove(_ handler: RequestHandler) {
    handlers.withLock { handlers in
      // Nearly always the last one: a head usually arrives in one piece.
      if let index = handlers.lastIndex(where: { $0 === handler }) { handlers.remove(at: index) }
    }
  }

  /// The request whose head is complete and has no answer: MHD refuses it now, on this thread.
  ///
  /// It is `nil` if MHD refuses a request before the end of its head. There is at most one, because MHD goes from the end of
  /// a head to the access handler without a pause.
  var refused: RequestHandler? {
    handlers.withLock { handlers in
      handlers.last { $0.handle.headByteCount > 0 && !$0.handle.hasResponse }
    }
  }
}
