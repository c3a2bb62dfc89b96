/// The state of the automatic screen lock.
public enum ScreenLockState: Sendable, Hashable {
  /// The screen locks, and a secret opens it.
  case set
  /// The screen does not lock; the reason is a sentence without a full stop.
  case missing(String)
  /// There is no screen, or the state is unknown.
  case unknown
}

/// A guard that reports a missing screen lock.
public struct ScreenLockGuard: Guard {
  /// The value `screen-lock`.
  public let name = "screen-lock"
  private let state: @Sendable () -> ScreenLockState

  /// Creates a guard that asks an app.
  ///
  /// - Parameter state: Returns the state of the platform's lock. It is called on a thread that may block.
  public init(state: @escaping @Sendable () -> ScreenLockState) { self.state = state }

  /// Reports a missing lock.
  public func examine() -> [Evidence] {
    guard case .missing(let reason) = state() else { return [] }
    return [Evidence(.noScreenLock, reason)]
  }
}
