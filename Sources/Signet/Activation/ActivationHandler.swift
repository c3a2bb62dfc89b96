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
    /// The container with all its keys.
    case container
    /// A container that is renewed: the present password does not follow the server's new rules, or there was none.
    case renewedContainer
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
  /// Called when a password is needed, which is not always.
  func password(for request: PasswordRequest) async -> PasswordReply
}
