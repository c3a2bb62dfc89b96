public import SignetVault
import Synchronization

/// A screen that locks when a test says so, for one observer.
public final class SimulatedScreenLock: ScreenLockObserver {
  private enum Step: Sendable {
    case event(ScreenLockEvent, done: CheckedContinuation<Void, Never>)
    case failure(ScreenLockFailure)
  }

  private let steps: AsyncStream<Step>
  private let continuation: AsyncStream<Step>.Continuation

  /// A screen that is not locked.
  public init() { (steps, continuation) = AsyncStream<Step>.makeStream() }

  /// Tells the observer, and returns when it has reacted; waits for an observer where there is none yet.
  ///
  /// - Precondition: The observer has not ended.
  public func send(_ event: ScreenLockEvent) async {
    await withCheckedContinuation { done in
      if case .terminated = continuation.yield(.event(event, done: done)) {
        preconditionFailure("nobody observes the screen any more")
      }
    }
  }

  /// Ends the observation as if the service had gone.
  public func fail(_ failure: ScreenLockFailure) { continuation.yield(.failure(failure)) }

  /// Tells of `watching`, then of what the test sends.
  ///
  /// - Throws: What the test said with ``fail(_:)``.
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
