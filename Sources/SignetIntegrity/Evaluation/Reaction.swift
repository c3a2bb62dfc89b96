/// The reaction to a score that reaches the threshold, from the mildest to the strictest.
public enum Reaction: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Report it and go on.
  case report
  /// Refuse operations that need a key.
  case refuse
  /// Refuse, and lock open data.
  case lock
  /// Refuse, lock, and let the app wipe its other stored data.
  case wipeSession = "wipe-session"
  /// Report the cause and end the program.
  case terminate

  /// True if `left` is milder.
  public static func < (left: Reaction, right: Reaction) -> Bool { left.severity < right.severity }

  private var severity: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
