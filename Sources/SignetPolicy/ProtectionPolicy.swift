/// What opens a protected object: a container, or one of its keys.
///
/// More ways of opening follow; a reader of the JSON form refuses those it does not know.
@nonexhaustive public enum ProtectionPolicy: Sendable, Hashable {
  /// The device alone: the object cannot be used elsewhere, but nothing is asked of its user.
  case device

  /// The device together with a password of its user.
  ///
  /// The password policy says which passwords may be chosen; the lock policy what wrong ones cost.
  case password(PasswordPolicy, LockPolicy)

  /// The rules for a new password; `nil` where none is asked.
  public var passwordPolicy: PasswordPolicy? {
    switch self {
    case .device: nil
    case .password(let policy, _): policy
    }
  }

  /// What failed attempts cost; ``LockPolicy/none`` where there is nothing to attempt.
  public var lockPolicy: LockPolicy {
    switch self {
    case .device: .none
    case .password(_, let lock): lock
    }
  }
}
