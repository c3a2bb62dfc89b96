import SignetUAF

/// One of the five authenticators that a device has, whether or not it is of use on this one.
public struct UAFAuthenticator: Hashable, Sendable {
  /// How an authenticator verifies the user.
  @nonexhaustive public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// By a PIN that is chosen at registration.
    case pin
    /// By a password that is chosen at registration.
    case password
    /// By a finger that is enrolled in the system.
    case fingerprint
    /// By a face that is enrolled in the system.
    case face
    /// By the passcode of the user's account on this device.
    case devicePasscode

    var model: SignetModel {
      switch self {
      case .pin: .pin
      case .password: .password
      case .fingerprint: .fingerprint
      case .face: .face
      case .devicePasscode: .devicePasscode
      }
    }

    /// Which authenticator it is, to the module.
    var index: UInt8 {
      switch self {
      case .pin: 0
      case .password: 1
      case .fingerprint: 2
      case .face: 3
      case .devicePasscode: 4
      }
    }

    /// Whether the secret is this program's to check, and is enrolled at registration.
    public var hasOwnSecret: Bool { self == .pin || self == .password }

    init?(index: UInt8) {
      guard let kind = Self.allCases.first(where: { $0.index == index }) else { return nil }
      self = kind
    }
  }

  /// How it verifies the user.
  public let kind: Kind
  /// The name of its model: 5167#0001 to 5167#0005 where keys lie in files, 5167#1001 to 5167#1005 where they lie in a TPM.
  public let aaid: String
  /// What people call it.
  public let title: String
  /// Whether this device has what it takes: a sensor, or a way of checking the passcode.
  public let isSupportedByHardware: Bool
  /// Whether the user has enrolled in the system what it takes; always, for a PIN and a password.
  public let isEnrolledInSystem: Bool
  /// The keys that this app registered with it, oldest first.
  public let keys: [UAFKey]

  /// Whether an account has a key of it.
  ///
  /// - Parameter username: The account.
  /// - Returns: Whether there is one.
  public func isRegistered(_ username: String) -> Bool { keys.contains { $0.isOf(username) } }

  /// Whether it is of the model of this name.
  func isModel(_ aaid: String) -> Bool { AAID.areSame(self.aaid, aaid) }
}

/// A key of an authenticator on this device, for one account of one application.
public struct UAFKey: Hashable, Sendable {
  /// The model of its authenticator.
  public let aaid: String
  /// Its name among the keys of the model, in base64url.
  public let keyID: String
  /// The application that it is for.
  public let appID: String
  /// The account that it is for.
  public let username: String
  /// How its authenticator verifies the user.
  public let kind: UAFAuthenticator.Kind
  /// When it was made, in seconds since 1970.
  public let created: Int64

  /// Whether it is of this account, byte by byte: names that only look alike are of others.
  func isOf(_ username: String) -> Bool { self.username.utf8.elementsEqual(username.utf8) }

  /// Whether its authenticator is of the model of this name.
  func isOfModel(_ aaid: String) -> Bool { AAID.areSame(self.aaid, aaid) }

  /// Whether it is the key of this name, of the model of this name.
  func isKey(_ keyID: String, ofModel aaid: String) -> Bool { self.keyID == keyID && isOfModel(aaid) }
}
