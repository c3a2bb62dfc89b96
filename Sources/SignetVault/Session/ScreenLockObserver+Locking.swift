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
