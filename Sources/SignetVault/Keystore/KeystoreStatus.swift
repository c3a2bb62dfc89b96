/// What can be said about a keystore without opening anything.
public struct KeystoreStatus: Sendable, Hashable {
  /// What kind of protection it is.
  public var kind: KeystoreKind
  /// Who made the hardware, as it says itself.
  public var manufacturer: String?
  /// The version of its firmware, as it says itself.
  public var firmware: String?
  /// Whether it says, or its manufacturer's name gives away, that it is a program and no hardware.
  public var isSimulator = false
  /// What its defence against guessing knows.
  public var lockout: Lockout?
  /// Whether that defence can be reset only with a password.
  ///
  /// If not, whoever may use the hardware takes it back as often as they like, and a limit of guesses is worth no more than what
  /// a guess costs. `nil` where there is no such defence.
  public var isLockoutPasswordSet: Bool?
  /// Whether the owner of the hardware set a password, without which nothing can be kept in it; `nil` where it has no owner.
  public var isOwnerPasswordSet: Bool?
  /// How many guess limits and counters this program keeps in it, for all users and vaults of the machine.
  public var reservedPlaces = 0

  /// A status that says the kind only.
  public init(kind: KeystoreKind) { self.kind = kind }

  /// The defence against guessing that serves all users of the hardware: failures are counted, and some time takes one off.
  public struct Lockout: Sendable, Hashable {
    /// The failures that count now.
    public var failedCount: Int
    /// How many failures lock.
    public var limit: Int
    /// After how many seconds one failure is forgotten.
    public var secondsForEach: Int

    /// A lockout with these numbers.
    public init(failedCount: Int, limit: Int, secondsForEach: Int) {
      (self.failedCount, self.limit, self.secondsForEach) = (failedCount, limit, secondsForEach)
    }

    /// Whether the hardware refuses by now what it defends in this way.
    public var isLocked: Bool { failedCount >= limit }
    /// For how many seconds at most it goes on refusing; 0 where it does not refuse.
    public var secondsLeft: Int { isLocked ? (failedCount - limit + 1) * secondsForEach : 0 }
  }
}
