import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Calls back at each `SIGHUP`; the signal never ends the process, even before a callback is set and after ``end()``.
final class HangUpSignal: Sendable {
  private enum State {
    /// No callback yet; `hasCome` records a signal.
    case early(hasCome: Bool)
    case ready(@Sendable () -> Void)
    case ended
  }

  private let state = Mutex(State.early(hasCome: false))
  private let queue = DispatchQueue(label: "signet.server.hang-up")
  // Written in `init` only; a source may be used from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceSignal

  /// Takes over the signal for the rest of the process.
  init() {
    signal(SIGHUP, SIG_IGN)  // the source still receives it
    source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
    source.setEventHandler { [weak self] in self?.receive() }
    // The reason is in StopSignals.
    let registration = DispatchGroup()
    registration.enter()
    source.setRegistrationHandler { registration.leave() }
    source.resume()
    registration.wait()
  }

  deinit { source.cancel() }

  /// Calls `body` at each signal from now on, and once at once if a signal came before; calls never overlap.
  func call(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      defer { state = .ready(body) }
      if case .early(true) = state { return true }
      return false
    }
    if isLate { queue.async(execute: body) }
  }

  /// Ends the callbacks, and returns when the last one has finished.
  func end() {
    state.withLock { $0 = .ended }
    queue.sync {}
  }

  private func receive() {
    let body = state.withLock { state -> (@Sendable () -> Void)? in
      switch state {
      case .early:
        state = .early(hasCome: true)
        return nil
      case .ready(let body): return body
      case .ended: return nil
      }
    }
    body?()
  }
}
