/// Answers one request, on any thread; what comes after the first answer is dropped.
///
/// A handler that is done without having answered leaves the connection suspended, and costs nothing until somebody
/// answers. Where nobody does, the client is told to try again after ``ServerLimits/handlerDeadline`` (503).
public struct Responder: Sendable {
  private let handler: RequestHandler

  init(_ handler: RequestHandler) { self.handler = handler }

  /// Notes the pattern of the route; called by the server's handler, on the thread that it was called on.
  func routed(by pattern: String) { handler.routed(by: pattern) }

  /// Answers.
  public func answer(_ response: ServerResponse) { handler.answer(response) }

  /// Answers with what `operation` returns.
  ///
  /// It runs at once on this thread up to its first suspension, then wherever it resumes; it must not block.
  /// Its task is cancelled where ``whenCancelled(_:)`` says.
  ///
  /// - Parameter operation: Makes the answer.
  public func answer(with operation: @escaping @Sendable () async -> ServerResponse) {
    run { answer(await operation()) }
  }

  /// Runs `operation`, which answers or leaves that to somebody else, as ``answer(with:)`` does.
  ///
  /// - Parameter operation: What is to be done.
  public func run(_ operation: @escaping @Sendable () async -> Void) {
    let task = Task.immediate { await operation() }
    // By now the operation may have gone on elsewhere, and set what ends what it has begun.
    handler.whenCancelled(replacing: false) { task.cancel() }
  }

  /// Sets what is called when nobody waits for the answer any more; it replaces what was set before.
  ///
  /// That is when the client has closed the connection (or only its sending side, which looks the same), when
  /// ``ServerLimits/handlerDeadline`` has passed, and when the server stops before there is an answer. It is called
  /// at once where that was so already, and not at all after an answer.
  ///
  /// - Parameter cancel: Called at most once, on any thread; it must not block.
  public func whenCancelled(_ cancel: @escaping @Sendable () -> Void) {
    handler.whenCancelled(replacing: true, cancel)
  }
}

/// Answers a request by its ``Responder``, now or later.
///
/// It runs on a polling thread: it must not block.
public typealias DirectHandler = @Sendable (ServerRequest, Responder) -> Void
