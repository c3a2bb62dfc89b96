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

  /// Takes over the signals.
  ///
  /// It also ignores `SIGPIPE`, so that a log without a reader does not end the server. Signals that have no meaning for a
  /// server, and would end it without a log line, are ignored as well.
  init() {
    for number in [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGIO] { signal(number, SIG_IGN) }
    let queue = DispatchQueue(label: "signet.server.signals")
    let numbers = [SIGTERM, SIGINT, SIGQUIT]
    sources = numbers.map { number in
      signal(number, SIG_IGN)  // the source still receives it
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    // A source receives its signal only some time after it is resumed; an earlier signal would be lost.
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

  /// Returns at the first signal, even if it came before the call.
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
      // Exit at once: all acknowledged changes are already on disk.
      guard case .waiting(let continuation) = state else { _exit(128 + number) }
      state = .stopping
      return continuation
    }
    continuation?.resume()
  }
}
