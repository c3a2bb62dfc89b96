/// What follows when a score reaches the threshold, from the mildest to the hardest.
public enum Reaction: String, Sendable, Hashable, CaseIterable, Comparable {
  /// It is said, and everything goes on.
  case report
  /// What needs a key is refused.
  case refuse
  /// The same, and what is open is locked.
  case lock
  /// The same, and the app wipes what else it keeps.
  case wipeSession = "wipe-session"
  /// The program ends and says why.
  case terminate

  /// Whether `left` is milder.
  public static func < (left: Reaction, right: Reaction) -> Bool { left.severity < right.severity }

  private var severity: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
