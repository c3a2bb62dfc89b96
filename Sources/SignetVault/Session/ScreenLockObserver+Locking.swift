extension ScreenLockObserver {
  /// Locks whenever the person leaves the device, until the task is cancelled.
  ///
  /// - Parameter lock: Wipes what is unlocked. The system waits for it, for some seconds, before it sleeps.
  /// - Throws: ``ScreenLockFailure``, after `lock` was called: nothing tells of the next time any more.
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
  /// Why to lock; `nil` if the event is no reason to.
  var lockReason: LockReason? {
    switch self {
    case .watching(locked: true), .locked: .screenLocked
    case .willSleep, .woke: .suspended
    case .willShutDown: .ending
    case .watching(locked: false), .unlocked: nil
    }
  }
}
