public import SignetCrypto
public import SignetPolicy

/// How far an activation or a renewal has come.
public struct ActivationProgress: Hashable, Sendable {
  /// 0 to 1.
  public let fraction: Double
  /// What happens now, for a person.
  public let message: String
}

/// A password is needed for what is being made.
public struct PasswordRequest: Hashable, Sendable {
  /// What the password will protect.
  @nonexhaustive public enum Subject: Hashable, Sendable {
    /// The container, with those of its keys that have no protection of their own.
    case container
    /// One key, which has a protection of its own.
    case key(Key.Usage)
    /// A container that is renewed: the present password does not follow the server's new rules, or there was none.
    case renewedContainer
    /// One key of a container that is renewed, in the same case.
    case renewedKey(Key.Usage)

    /// The key, if it is one alone.
    public var key: Key.Usage? {
      switch self {
      case .container, .renewedContainer: nil
      case .key(let key), .renewedKey(let key): key
      }
    }
  }

  /// What the password will protect.
  public let subject: Subject
  /// The rules that the password must follow; see `PasswordPolicy.violations(of:)`.
  public let policy: PasswordPolicy
  /// What wrong passwords will cost.
  public let lockPolicy: LockPolicy
  /// When the whole operation ends, in seconds since 1970.
  public let deadline: Int64
}

/// The answer to a ``PasswordRequest``.
public enum PasswordReply: Sendable {
  /// Go on with this password: UTF-8 as typed. One that breaks the policy ends it all with
  /// ``SignetFailure/passwordRefused(_:)``.
  case proceed(SharedSecretBox)
  /// The user does not want to.
  case cancel
  /// The app stops.
  case abort
}

/// What an app does during an activation or a renewal.
public protocol ActivationHandler: Sendable {
  /// Called as the activation goes on, in order.
  func progressed(to progress: ActivationProgress) async
  /// Called when a password is needed, which is not always; once for each that the server wants: that of the container, then
  /// those of keys with their own.
  func password(for request: PasswordRequest) async -> PasswordReply
}
