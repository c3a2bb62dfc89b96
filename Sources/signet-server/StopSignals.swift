import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waits for `SIGTERM`, `SIGINT` or `SIGQUIT`; a second one ends the process at once.
final class StopSignals: Sendable {
  private enum State {
    case waiting(CheckedContinuation<Void, Never>?)
    case stopping
  }

  private let state = Mutex(State.waiting(nil))
  // Written in `init` only; a source may be used from any thread.
  nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

  /// Takes the signals over from now on.
  ///
  /// `SIGPIPE` is ignored from then on as well: a log that nobody reads any more stops nothing. So are those that mean nothing to a
  /// server, and would end it without a line.
  init() {
    for number in [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGIO] { signal(number, SIG_IGN) }
    let queue = DispatchQueue(label: "signet.server.signals")
    let numbers = [SIGTERM, SIGINT, SIGQUIT]
    sources = numbers.map { number in
      signal(number, SIG_IGN)  // the source sees it all the same
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    // A source begins to see its signal some time after it is resumed; one that came before would be lost.
    let registrations = DispatchGroup()
    for (number, source) in zip(numbers, sources) {
      source.setEventHandler { [weak self] in self?.receive(number) }
      registrations.enter()
      source.setRegistrationHandler { registrations.leave() }
      source.resume()
    }
    registrations.wait()
  }

  deinit { for source in sources { source.cancel() } }

  /// Returns with the first signal, also if it came before the call.
  func first() async {
    await withCheckedContinuation { continuation in
      let isStopping = state.withLock { state -> Bool in
        guard case .waiting = state else { return true }
        state = .waiting(continuation)
        return false
      }
      if isStopping { continuation.resume() }
    }
  }

  private func receive(_ number: Int32) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      // Durable state needs no farewell: what was acknowledged is on the disk.
      guard case .waiting(let continuation) = state else { _exit(128 + number) }
      state = .stopping
      return continuation
    }
    continuation?.resume()
  }
}
