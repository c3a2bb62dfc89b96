/// What opens a protected object: a container, or one of its keys.
///
/// More ways of opening may follow; a reader of the JSON form refuses those it does not know.
@nonexhaustive public enum ProtectionPolicy: Sendable, Hashable {
  /// The device alone: the object cannot be used elsewhere, but nothing is asked of its user.
  case device

  /// The device together with a password of its user.
  ///
  /// The password policy says which passwords may be chosen; the lock policy what wrong ones cost.
  case password(PasswordPolicy, LockPolicy)

  /// As ``password(_:_:)``, until the user enables biometrics: then either opens.
  case biometricOrPassword(PasswordPolicy, LockPolicy)

  /// As ``password(_:_:)``, until the user enables the passcode of the device: then either opens.
  case deviceLockOrPassword(PasswordPolicy, LockPolicy)

  /// A biometric match on the device, and nothing else.
  case biometric

  /// The passcode of the device, asked by the operating system.
  case devicePasscode

  /// The rules for a new password; `nil` where none is ever asked.
  public var passwordPolicy: PasswordPolicy? { passwordRules?.password }

  /// What failed attempts cost; ``LockPolicy/none`` where the device itself counts, or nothing is attempted.
  public var lockPolicy: LockPolicy { passwordRules?.lock ?? .none }

  /// The policy that is in force on a device.
  ///
  /// - Parameter device: What the device can do.
  /// - Returns: ``password(_:_:)`` for ``biometricOrPassword(_:_:)`` on a device that cannot match, and for
  ///   ``deviceLockOrPassword(_:_:)`` on one that cannot check its passcode; any other policy unchanged.
  public func inForce(on device: DeviceAbilities) -> ProtectionPolicy {
    switch self {
    case .biometricOrPassword(let password, let lock) where !device.matchesBiometrics:
      .password(password, lock)
    case .deviceLockOrPassword(let password, let lock) where !device.checksPasscode:
      .password(password, lock)
    default: self
    }
  }

  private var passwordRules: (password: PasswordPolicy, lock: LockPolicy)? {
    switch self {
    case .device, .biometric, .devicePasscode: nil
    case .password(let password, let lock), .biometricOrPassword(let password, let lock),
      .deviceLockOrPassword(let password, let lock):
      (password, lock)
    }
  }
}

/// What a device can do that decides which protection is in force.
public struct DeviceAbilities: Sendable, Hashable {
  /// Whether it has a sensor that this software can use.
  public var matchesBiometrics: Bool
  /// Whether it can check the passcode with which its user unlocks it.
  public var checksPasscode: Bool

  /// Names both.
  public init(matchesBiometrics: Bool, checksPasscode: Bool) {
    self.matchesBiometrics = matchesBiometrics
    self.checksPasscode = checksPasscode
  }
}
