/// The requirement to open a protected object: a container, or one of its keys.
///
/// More kinds may follow; a reader of the JSON form rejects kinds that it does not know.
@nonexhaustive public enum ProtectionPolicy: Sendable, Hashable {
  /// The device alone: the object cannot be used elsewhere, but its user is asked for nothing.
  case device

  /// The device together with its user's password.
  ///
  /// The password policy limits the passwords; the lock policy defines the consequence of wrong ones.
  case password(PasswordPolicy, LockPolicy)

  /// A password until the user enables biometrics; then either opens the object.
  case biometricOrPassword(PasswordPolicy, LockPolicy)

  /// A password until the user enables the passcode of the device; then either opens the object.
  case deviceLockOrPassword(PasswordPolicy, LockPolicy)

  /// A biometric match on the device only.
  case biometric

  /// The passcode of the device; the operating system asks for it.
  case devicePasscode

  /// The rules for a new password; `nil` if no password is used.
  public var passwordPolicy: PasswordPolicy? { passwordRules?.password }

  /// The consequence of failed attempts; ``LockPolicy/none`` if the device counts them or no attempt is made.
  public var lockPolicy: LockPolicy { passwordRules?.lock ?? .none }

  /// Returns the policy that is in force on a device.
  ///
  /// - Parameter device: The abilities of the device.
  /// - Returns: ``password(_:_:)`` for ``biometricOrPassword(_:_:)`` on a device without biometrics, and for
  ///   ``deviceLockOrPassword(_:_:)`` on a device that cannot check its passcode; any other policy unchanged.
  public func inForce(on device: DeviceAbilities) -> ProtectionPolicy {
    switch self {
    case .biometricOrPassword(let password, let lock) where !device.matchesBiometrics:
      .password(password, lock)
    case .deviceLockOrPassword(let password, let lock) where !device.checksPasscode:
      .password(password, lock)
    default: self
    }
  }

  /// The row of the type.
  var type: ProtectionType {
    let row = ProtectionType.rows.first { row in
      guard let rules = passwordRules else { return row.alone == self }
      return row.withPassword?(rules.password, rules.lock) == self
    }
    guard let row else { preconditionFailure("this type of protection has no row") }
    return row
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

/// A type of protection, declared once.
struct ProtectionType: Sendable {
  /// The `type` of the JSON form.
  let name: String
  /// The end of the sentence about what opens the keys.
  let opening: String
  /// The policy; `nil` for a type with a password.
  var alone: ProtectionPolicy?
  /// Makes a policy; `nil` for a type without a password.
  var withPassword: (@Sendable (PasswordPolicy, LockPolicy) -> ProtectionPolicy)?

  static let rows = [
    ProtectionType(name: "password", opening: "and with a password", withPassword: { .password($0, $1) }),
    ProtectionType(
      name: "biometricOrPassword", opening: "with a password, or with biometrics once they are enabled",
      withPassword: { .biometricOrPassword($0, $1) }),
    ProtectionType(
      name: "deviceLockOrPassword",
      opening: "with a password, or with the passcode of the device once that is enabled",
      withPassword: { .deviceLockOrPassword($0, $1) }),
    ProtectionType(name: "device", opening: "without user authentication", alone: .device),
    ProtectionType(name: "biometric", opening: "and with biometrics", alone: .biometric),
    ProtectionType(
      name: "devicePasscode", opening: "and with the passcode of the device", alone: .devicePasscode),
  ]
}

/// The abilities of a device that decide which protection is in force.
public struct DeviceAbilities: Sendable, Hashable {
  /// True if it has a sensor that this software can use.
  public var matchesBiometrics: Bool
  /// True if it can check the passcode with which its user unlocks it.
  public var checksPasscode: Bool

  /// Creates the abilities of a device.
  public init(matchesBiometrics: Bool, checksPasscode: Bool) {
    self.matchesBiometrics = matchesBiometrics
    self.checksPasscode = checksPasscode
  }
}
