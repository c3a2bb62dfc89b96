public import SignetCrypto
public import SignetPolicy

/// The progress of an activation or a renewal.
public struct ActivationProgress: Hashable, Sendable {
  /// The completed fraction, 0 to 1.
  public let fraction: Double
  /// The current step, for display to the user.
  public let message: String
}

/// A request for a new password during an activation or a renewal.
public struct PasswordRequest: Hashable, Sendable {
  /// The subject that the password will protect.
  @nonexhaustive public enum Subject: Hashable, Sendable {
    /// The container, with its keys that have no separate protection.
    case container
    /// One key with a separate protection.
    case key(Key.Usage)
    /// A renewed container whose current password violates the server's new policy, or that had none.
    case renewedContainer
    /// One key of a renewed container, in the same case.
    case renewedKey(Key.Usage)

    /// The key; `nil` for a container.
    public var key: Key.Usage? {
      switch self {
      case .container, .renewedContainer: nil
      case .key(let key), .renewedKey(let key): key
      }
    }
  }

  /// The subject that the password will protect.
  public let subject: Subject
  /// The rules for the password; see `PasswordPolicy.violations(of:)`.
  public let policy: PasswordPolicy
  /// The lock policy for wrong passwords.
  public let lockPolicy: LockPolicy
  /// The time at which the whole operation expires, in seconds since 1970.
  public let deadline: Int64
}

/// The answer to a ``PasswordRequest``.
public enum PasswordReply: Sendable {
  /// Continues with this password, UTF-8 as typed; one that violates the policy ends the operation with
  /// ``SignetError/passwordRefused(_:)``.
  case proceed(SharedSecretBox)
  /// The user cancels.
  case cancel
  /// The app cancels.
  case abort
}

/// The part of an app in an activation or a renewal.
public protocol ActivationHandler: Sendable {
  /// Receives the progress, in order.
  func progressed(to progress: ActivationProgress) async
  /// Provides a password.
  ///
  /// It is called only if one is needed, once for each: that of the container first, then those of keys with a separate protection.
  func password(for request: PasswordRequest) async -> PasswordReply
}
