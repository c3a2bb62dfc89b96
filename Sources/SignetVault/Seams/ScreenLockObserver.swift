/// Reports when the screen locks or the machine goes to sleep, which may mean that the user left the device.
///
/// Back ends: logind on Linux, `SimulatedScreenLock` in tests.
public protocol ScreenLockObserver: Sendable {
  /// Reports each event until the task is cancelled.
  ///
  /// Events are sequential: the next one waits until `react` has returned. At ``ScreenLockEvent/willSleep`` and
  /// ``ScreenLockEvent/willShutDown`` the system delays sleep or shutdown for some seconds until `react` has returned. Wipe
  /// keys there.
  ///
  /// - Parameter react: Receives each event. The first event is ``ScreenLockEvent/watching(locked:)``.
  /// - Throws: ``ScreenLockFailure``. A caller that holds keys must then lock, because later events are no longer reported.
  ///   A cancelled task returns without throwing.
  func observe(_ react: @escaping @Sendable (ScreenLockEvent) async -> Void) async throws(ScreenLockFailure)
}

/// An event that may require wiping keys.
@nonexhaustive public enum ScreenLockEvent: Hashable, Sendable {
  /// Observation has started, and no later event is missed; `locked` is the current state of the screen.
  case watching(locked: Bool)
  /// The screen was locked.
  case locked
  /// The screen was unlocked; only the system vouches that it was the same user.
  case unlocked
  /// The machine goes to sleep when the reaction has returned.
  case willSleep
  /// The machine is awake again.
  case woke
  /// The machine is switched off when the reaction has returned.
  case willShutDown
}

/// The reason why screen locks are no longer reported.
@nonexhaustive public enum ScreenLockFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system has no service that reports screen locks.
  case notCapable
  /// The connection to the service was lost or could not be made; the text is the system's sanitised message.
  case connectionLost(String)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .notCapable:
      "this system does not report when the screen locks; lock by hand, or set a short idle time"
    case .connectionLost(let detail):
      "the system stopped reporting when the screen locks (\(detail)); unlock again"
    }
  }
}

extension ScreenLockObserver {
  /// Calls `lock` at each event that requires a lock, until the task is cancelled.
  ///
  /// - Parameter lock: Wipes unlocked secrets. Before the machine sleeps, the system waits some seconds for it.
  /// - Throws: ``ScreenLockFailure``, after `lock` was called, because later events are no longer reported.
  public func locking(_ lock: @escaping @Sendable (LockReason) -> Void) async throws(ScreenLockFailure) {
    do throws(ScreenLockFailure) {
      try await observe { event in if let reason = event.lockReason { lock(reason) } }
    } catch {
      lock(.unobserved)
      throw error
    }
  }
}

extension ScreenLockEvent {
  /// The reason to lock; `nil` if the event requires no lock.
  var lockReason: LockReason? {
    switch self {
    case .watching(locked: true), .locked: .screenLocked
    case .willSleep, .woke: .suspended
    case .willShutDown: .ending
    case .watching(locked: false), .unlocked: nil
    }
  }
}
