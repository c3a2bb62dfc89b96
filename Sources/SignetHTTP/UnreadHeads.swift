internal import Synchronization

/// The requests of one polling thread whose heads the server has not seen yet.
///
/// MHD refuses some heads itself: it announces that to its log without saying which connection it is about. A wrong
/// `Content-Length` it answers with a page that has its head twice. By this list the request is found, and answered first.
final class UnreadHeads: Sendable {
  private let handlers = Mutex<[RequestHandler]>([])

  /// The request line of a request is there.
  func insert(_ handler: RequestHandler) { handlers.withLock { $0.append(handler) } }

  /// The server has the head, or MHD is done with the request.
  func remove(_ handler: RequestHandler) {
    handlers.withLock { handlers in
      // Nearly always the last one: a head comes in one piece.
      if let index = handlers.lastIndex(where: { $0 === handler }) { handlers.remove(at: index) }
    }
  }

  /// The request whose head is whole and has no answer: MHD refuses it at this moment, on this thread.
  ///
  /// `nil` where MHD refuses one before the end of its head. There is one at most, as MHD goes from the end of a head to the access handler
  /// without a pause.
  var refused: RequestHandler? {
    handlers.withLock { handlers in
      handlers.last { $0.handle.headByteCount > 0 && !$0.handle.hasResponse }
    }
  }
}
