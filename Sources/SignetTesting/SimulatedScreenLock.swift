public import SignetVault
import Synchronization

/// A simulated screen lock that a test controls, for one observer.
public final class SimulatedScreenLock: ScreenLockObserver {
  private enum Step: Sendable {
    case event(ScreenLockEvent, done: CheckedContinuation<Void, Never>)
    case failure(ScreenLockFailure)
  }

  private let steps: AsyncStream<Step>
  private let continuation: AsyncStream<Step>.Continuation

  /// Creates an unlocked screen.
  public init() { (steps, continuation) = AsyncStream<Step>.makeStream() }

  /// Sends an event and returns when the observer has handled it; waits for an observer if there is none yet.
  ///
  /// - Precondition: The observer has not ended.
  public func send(_ event: ScreenLockEvent) async {
    await withCheckedContinuation { done in
      if case .terminated = continuation.yield(.event(event, done: done)) {
        preconditionFailure("nobody observes the screen any more")
      }
    }
  }

  /// Ends the observation as if the service had stopped.
  public func fail(_ failure: ScreenLockFailure) { continuation.yield(.failure(failure)) }

  /// Reports `watching`, then the events that the test sends.
  ///
  /// - Throws: The failure of ``fail(_:)``.
  public func observe(
    _ react: @escaping @Sendable (ScreenLockEvent) async -> Void
  ) async throws(ScreenLockFailure) {
    await react(.watching(locked: false))
    for await step in steps {
      switch step {
      case .event(let event, let done):
        await react(event)
        done.resume()
      case .failure(let failure): throw failure
      }
    }
  }
}
