/// The reason why a session or secret is locked.
@nonexhaustive public enum LockReason: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// Not unlocked yet.
  case notUnlocked
  /// The user, or an app on the user's behalf, requested the lock.
  case requested
  /// Not used for longer than the idle time-out.
  case idle
  /// The last authentication was too long ago.
  case tooOld
  /// Valid for one use only, which was made.
  case used
  /// The machine was suspended, or is about to be.
  case suspended
  /// The screen was locked.
  case screenLocked
  /// The system no longer reports screen locks.
  case unobserved
  /// The credential that unlocked it was changed, locked or removed, perhaps by another program.
  case changedElsewhere
  /// A clock was set, or ran backwards.
  case clockJumped
  /// Tampering with the program or with the system around it was detected.
  case tampered
  /// The program is ending.
  case ending

  /// The reason and the remedy.
  public var description: String {
    switch self {
    case .notUnlocked: "not unlocked yet; unlock it"
    case .requested: "locked on request; unlock it"
    case .idle: "locked because it was not used for a while; unlock it"
    case .tooOld: "locked because the last authentication was too long ago; unlock it"
    case .used: "the authentication was valid for one use and was used; authenticate again"
    case .suspended: "locked because the machine was suspended; unlock it"
    case .screenLocked: "locked with the screen; unlock it"
    case .unobserved: "locked because the system stopped reporting when the screen locks; unlock it"
    case .changedElsewhere:
      "locked because the password or the method that unlocked it was changed or locked; unlock it"
    case .clockJumped: "locked because the clock was changed; unlock it"
    case .tampered: "locked because the program was tampered with; remove the cause, and unlock it"
    case .ending: "locked because the program is ending"
    }
  }
}
