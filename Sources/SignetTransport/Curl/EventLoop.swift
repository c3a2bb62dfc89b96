#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The thread that carries a transport's transfers, and the mailbox through which it hears of them.
///
/// The thread starts with the first order. After ``stop()`` it finishes what is under way and ends.
final class EventLoop: Sendable {
  private let settings: TransferSettings
  private let mailbox = Mailbox()

  /// Creates a loop without a thread.
  init(_ settings: TransferSettings) { self.settings = settings }

  /// Carries one request; ends with ``TransportFailure/cancelled`` when the task is cancelled.
  ///
  /// - Parameters:
  ///   - request: What to send.
  ///   - deadline: When its time is up; nil for no limit.
  /// - Returns: The answer or why there is none.
  func exchange(
    _ request: CheckedRequest, before deadline: ContinuousClock.Instant?
  ) async -> TransferOutcome {
    let id = mailbox.withLock { $0.nextID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          TransferOrder(id: id, request: request, deadline: deadline, continuation: continuation))
        // A cancellation before the order was in the mailbox found nothing to cancel: repeat it.
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Lets the thread end once nothing is under way.
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
      guard mailbox.failure == nil else { return }  // nobody reads it any more
      mailbox.cancellations.append(id)
      mailbox.waker?.wake()
    }
  }
}

// MARK: - The thread

extension EventLoop {
  /// Starts a detached thread that holds one reference to the loop, and gives it back when it ends.
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
      // Whoever comes later hears of it at once instead of waiting for a thread that is gone.
      let orders = mailbox.withLock { $0.fail(error) }
      for order in orders { order.abandon(error) }
    }
  }

  /// Leaves signals to the application's threads.
  ///
  /// SIGPIPE above all: with `CURLOPT_NOSIGNAL`, libcurl does not keep it away, and it must not end the process when
  /// a server hangs up. Those that report a fault of this very thread stay.
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
        let mail = mailbox.withLock { $0.take() }
        traffic.waiting += mail.orders
        for id in mail.cancellations { traffic.cancel(id, multi) }
        traffic.start(multi, settings)
        if mail.isStopping, traffic.isEmpty { return }
        try multi.perform()
        // Who waited takes the place of who has finished before the thread sleeps.
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
