/// Why something that was unlocked is locked.
@nonexhaustive public enum LockReason: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// It was not unlocked yet.
  case notUnlocked
  /// Its user, or an app in the name of the user, asked for it.
  case requested
  /// It was not used for as long as was allowed.
  case idle
  /// The last authentication was too long ago.
  case tooOld
  /// It was good for one use and has been used.
  case used
  /// The machine was suspended, or is about to be.
  case suspended
  /// The screen was locked.
  case screenLocked
  /// Nothing tells any more when the screen is locked.
  case unobserved
  /// What unlocked it was changed, locked or taken away, perhaps by another program.
  case changedElsewhere
  /// A clock was set, or ran backwards.
  case clockJumped
  /// The program that held it, or the system around it, is being tampered with.
  case tampered
  /// The program that held it is ending.
  case ending

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .notUnlocked: "not unlocked yet; unlock it"
    case .requested: "locked on request; unlock it"
    case .idle: "locked because it was not used for a while; unlock it"
    case .tooOld: "locked because the last authentication was too long ago; unlock it"
    case .used: "good for one use, which is over; authenticate again"
    case .suspended: "locked because the machine was suspended; unlock it"
    case .screenLocked: "locked with the screen; unlock it"
    case .unobserved: "locked because the system stopped telling when the screen locks; unlock it"
    case .changedElsewhere: "locked because what unlocked it was changed or locked meanwhile; unlock it"
    case .clockJumped: "locked because the clock was changed; unlock it"
    case .tampered: "locked because the program was tampered with; end what does so, and unlock it"
    case .ending: "locked because the program is ending"
    }
  }
}
