/// Answers one request, on any thread; only the first answer is sent.
///
/// A handler may return without an answer: the connection then stays suspended and holds no thread until an answer comes.
/// Without an answer the client gets 503 after ``ServerLimits/handlerDeadline``.
package struct Responder: Sendable {
  private let handler: RequestHandler

  init(_ handler: RequestHandler) { self.handler = handler }

  /// Records the pattern of the route; the server's handler calls it on its own thread.
  func routed(by pattern: String) { handler.routed(by: pattern) }

  /// Sends the answer.
  package func answer(_ response: ServerResponse) { handler.answer(response) }

  /// Answers with the result of `operation`.
  ///
  /// It runs at once on this thread up to its first suspension, then wherever it resumes; it must not block. Its task is
  /// cancelled in the cases that ``whenCancelled(_:)`` lists.
  ///
  /// - Parameter operation: Makes the answer.
  package func answer(with operation: @escaping @Sendable () async -> ServerResponse) {
    run { answer(await operation()) }
  }

  /// Runs `operation` like ``answer(with:)``; it answers, or passes the responder on.
  ///
  /// - Parameter operation: The operation.
  package func run(_ operation: @escaping @Sendable () async -> Void) {
    let task = Task.immediate { await operation() }
    // By now the operation may run on another thread and have set its own callback, which must stay.
    handler.whenCancelled(replacing: false) { task.cancel() }
  }

  /// Sets the callback for a cancelled request; it replaces an earlier one.
  ///
  /// A request is cancelled when the client closes the connection or only its sending side, which looks the same. It is
  /// also cancelled when ``ServerLimits/handlerDeadline`` has passed, and when the server stops before there is an answer.
  /// If the request is already cancelled, the callback runs at once; after an answer it never runs.
  ///
  /// - Parameter cancel: Called at most once, on any thread; it must not block.
  package func whenCancelled(_ cancel: @escaping @Sendable () -> Void) {
    handler.whenCancelled(replacing: true, cancel)
  }
}

/// A handler that answers a request with its ``Responder``, now or later.
///
/// It runs on a polling thread and must not block.
package typealias DirectHandler = @Sendable (ServerRequest, Responder) -> Void
