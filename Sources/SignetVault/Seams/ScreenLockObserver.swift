/// What tells when the person leaves the device: the screen locks, or the machine goes to sleep.
///
/// Back ends: logind on Linux, `SimulatedScreenLock` in tests.
public protocol ScreenLockObserver: Sendable {
  /// Tells of each event until the task is cancelled.
  ///
  /// Events come one after another: the next waits until `react` has returned. The system holds back sleep and shutdown,
  /// for some seconds, until `react` has returned from ``ScreenLockEvent/willSleep`` or ``ScreenLockEvent/willShutDown``: wipe
  /// keys there.
  ///
  /// - Parameter react: Is told what happened. The first event is ``ScreenLockEvent/watching(locked:)``.
  /// - Throws: ``ScreenLockFailure``. Whoever holds keys must take it for a lock: nothing tells of the next one any more.
  ///   A cancelled task returns without throwing.
  func observe(_ react: @escaping @Sendable (ScreenLockEvent) async -> Void) async throws(ScreenLockFailure)
}

/// Something after which keys may have to go.
@nonexhaustive public enum ScreenLockEvent: Hashable, Sendable {
  /// From now on nothing is missed; whether the screen is locked already.
  case watching(locked: Bool)
  /// The screen locks.
  case locked
  /// The screen was unlocked. That the same person is back is the system's opinion.
  case unlocked
  /// The machine goes to sleep when the reaction has returned.
  case willSleep
  /// The machine is awake again.
  case woke
  /// The machine is switched off when the reaction has returned.
  case willShutDown
}

/// Why nothing tells of the screen any more.
@nonexhaustive public enum ScreenLockFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system has no service that would tell.
  case notCapable
  /// The connection to the service was lost or never made; the text is the system's word for it, made harmless.
  case connectionLost(String)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .notCapable:
      "nothing on this system tells when the screen locks; lock by hand, or set a short idle time"
    case .connectionLost(let detail):
      "the system stopped telling when the screen locks (\(detail)); unlock again"
    }
  }
}
