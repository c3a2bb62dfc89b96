/// Whether a screen that is left alone is locked.
public enum ScreenLockState: Sendable, Hashable {
  /// It is, and opens with a secret.
  case set
  /// It is not, for this reason: a sentence without a full stop.
  case missing(String)
  /// There is no screen to lock, or nobody can say.
  case unknown
}

/// Says where the screen of the device is not locked.
public struct ScreenLockGuard: Guard {
  /// `screen-lock`.
  public let name = "screen-lock"
  private let state: @Sendable () -> ScreenLockState

  /// A guard that asks an app.
  ///
  /// - Parameter state: What the app knows of its platform's lock. It is called on a thread that may block.
  public init(state: @escaping @Sendable () -> ScreenLockState) { self.state = state }

  /// Asks for the state of the lock.
  public func examine() -> [Evidence] {
    guard case .missing(let reason) = state() else { return [] }
    return [Evidence(.noScreenLock, reason)]
  }
}
