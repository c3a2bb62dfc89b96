internal import Synchronization

/// The requests of one polling thread whose heads the server has not seen yet.
///
/// MHD refuses some heads itself: it announces that to its log without saying which connection it is about. A wrong
/// `Content-Length` it answers with a page that has its head twice. By this list the request is found, and answered first.
final class UnreadHeads: Sendable {
  private let exchanges = Mutex<[RequestHandler]>([])

  /// The request line of a request is there.
  func insert(_ exchange: RequestHandler) { exchanges.withLock { $0.append(exchange) } }

  /// The server has the head, or MHD is done with the request.
  func remove(_ exchange: RequestHandler) {
    exchanges.withLock { exchanges in
      // Nearly always the last one: a head comes in one piece.
      if let index = exchanges.lastIndex(where: { $0 === exchange }) { exchanges.remove(at: index) }
    }
  }

  /// The request whose head is whole and has no answer: MHD refuses it at this moment, on this thread.
  ///
  /// `nil` where MHD refuses one before the end of its head. There is one at most, as MHD goes from the end of a head to the access handler
  /// without a pause.
  var refused: RequestHandler? {
    exchanges.withLock { exchanges in
      exchanges.last { $0.connection.headByteCount > 0 && !$0.connection.hasResponse }
    }
  }
}
