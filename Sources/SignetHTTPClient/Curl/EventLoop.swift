#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The thread that carries a transport's transfers, and the mailbox for its orders.
///
/// The thread starts with the first order. After ``stop()`` it finishes the running transfers and ends.
final class EventLoop: Sendable {
  private let settings: TransferSettings
  private let mailbox = Mailbox()

  /// Creates a loop; the thread is not started yet.
  init(_ settings: TransferSettings) { self.settings = settings }

  /// Carries one request; fails with ``TransportFailure/cancelled`` when the task is cancelled.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - deadline: The end of its time; nil for no limit.
  /// - Returns: The response or the failure.
  func exchange(
    _ request: CheckedRequest, before deadline: ContinuousClock.Instant?
  ) async -> TransferOutcome {
    let id = mailbox.withLock { $0.nextID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          TransferOrder(id: id, request: request, deadline: deadline, continuation: continuation))
        // A cancellation before the order reached the mailbox had no effect: repeat it.
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Ends the thread when no transfer is left.
  func stop() {
    mailbox.withLock { mailbox in
      mailbox.isStopping = true
      mailbox.waker?.wake()
    }
  }

  private func submit(_ order: TransferOrder) {
    let refusal: TransportFailure? = mailbox.withLock { mailbox in
      if let failure = mailbox.failure { return failure }
      if !mailbox.hasThread {
        let code = startThread()
        guard code == 0 else { return .libraryFailure(call: "pthread_create", code: code) }
        mailbox.hasThread = true
      }
      mailbox.orders.append(order)
      mailbox.waker?.wake()
      return nil
    }
    if let refusal { order.abandon(refusal) }
  }

  private func cancel(_ id: UInt64) {
    mailbox.withLock { mailbox in
      guard mailbox.failure == nil else { return }  // no thread reads it any more
      mailbox.cancellations.append(id)
      mailbox.waker?.wake()
    }
  }
}

// MARK: - The thread

extension EventLoop {
  /// Starts a detached thread that retains the loop until it ends.
  private func startThread() -> Int32 {
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let code = unsafe pthread_create(&thread, nil, runEventLoop, context)
    guard code == 0 else {
      unsafe Unmanaged<EventLoop>.fromOpaque(context).release()
      return code
    }
    #if canImport(Glibc)
      pthread_detach(thread)
    #else
      if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #endif
    return 0
  }

  fileprivate func run() {
    blockSignals()
    do throws(TransportFailure) {
      let multi = try MultiHandle(maximumConnections: settings.maximumConnections)
      let waker = multi.waker
      mailbox.withLock { $0.waker = waker }
      defer { mailbox.withLock { $0.waker = nil } }
      try carryTransfers(multi)
    } catch {
      // Later orders fail at once instead of waiting for a thread that has ended.
      let orders = mailbox.withLock { $0.fail(error) }
      for order in orders { order.abandon(error) }
    }
  }

  /// Blocks signals, so that the application's threads get them.
  ///
  /// This matters most for SIGPIPE: with `CURLOPT_NOSIGNAL` libcurl does not suppress it, and it must not end the process
  /// when a server closes a connection. Signals that report a fault of this thread are not blocked.
  private func blockSignals() {
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] {
      unsafe sigdelset(&signals, fault)
    }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func carryTransfers(_ multi: borrowing MultiHandle) throws(TransportFailure) {
    var traffic = Traffic(limit: settings.maximumConnections)
    do throws(TransportFailure) {
      while true {
        let mail = mailbox.withLock { $0.drain() }
        traffic.waiting += mail.orders
        for id in mail.cancellations { traffic.cancel(id, multi) }
        traffic.start(multi, settings)
        if mail.isStopping, traffic.isEmpty { return }
        try multi.perform()
        // Waiting orders take free places before the thread sleeps.
        if traffic.finish(multi) { continue }
        try multi.wait(until: traffic.firstDeadlineOfWaiting)
      }
    } catch {
      traffic.abandon(error, multi)
      throw error
    }
  }
}

private func runEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
  }
  return nil
}
