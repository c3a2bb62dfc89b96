import SignetIdentifiers
import SignetSystem
import SignetUAF

/// One of the five authenticators of a device, supported or not.
public struct UAFAuthenticator: Hashable, Sendable {
  /// The method of user verification.
  @nonexhaustive public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// A PIN that the user sets at registration.
    case pin
    /// A password that the user sets at registration.
    case password
    /// A finger that is enrolled in the system.
    case fingerprint
    /// A face that is enrolled in the system.
    case face
    /// The passcode of the user's account on this device.
    case devicePasscode

    var model: UAFAuthenticatorModel {
      switch self {
      case .pin: .pin
      case .password: .password
      case .fingerprint: .fingerprint
      case .face: .face
      case .devicePasscode: .devicePasscode
      }
    }

    /// The authenticator index in the ASM.
    var index: UInt8 {
      switch self {
      case .pin: 0
      case .password: 1
      case .fingerprint: 2
      case .face: 3
      case .devicePasscode: 4
      }
    }

    /// Indicates whether the authenticator checks its own secret, which the user sets at registration.
    public var hasOwnSecret: Bool { self == .pin || self == .password }

    init?(index: UInt8) {
      guard let kind = Self.allCases.first(where: { $0.index == index }) else { return nil }
      self = kind
    }
  }

  /// The method of user verification.
  public let kind: Kind
  /// The AAID of its model: 5167#0001 to 5167#0005 for keys in files, 5167#1001 to 5167#1005 for keys in a TPM.
  public let aaid: String
  /// The name for display.
  public let title: String
  /// Indicates whether this device has the sensor, or a means to check the passcode.
  public let isSupportedByHardware: Bool
  /// Indicates whether the user has set it up in the system; always true for a PIN and a password.
  public let isEnrolledInSystem: Bool
  /// The keys that this app registered with it, oldest first.
  public let keys: [UAFKey]

  /// Returns whether a user has a key of this authenticator.
  ///
  /// - Parameter username: The user's name.
  /// - Returns: True if there is a key.
  public func isRegistered(_ username: String) -> Bool { keys.contains { $0.isOf(username) } }

  /// Indicates whether this authenticator has the model with an AAID.
  func isModel(_ aaid: String) -> Bool { AAID.areSame(self.aaid, aaid) }
}

/// A key of an authenticator on this device, for one account of one application.
public struct UAFKey: Hashable, Sendable {
  /// The AAID of its authenticator.
  public let aaid: String
  /// The key ID, unique within the AAID, in base64url.
  public let keyID: String
  /// The application ID of the key.
  public let appID: String
  /// The name of the user who owns the key.
  public let username: String
  /// The app's name for the server that had the key made, the only server that can use it; `nil` if the app named none.
  public let server: String?
  /// The user verification method of its authenticator.
  public let kind: UAFAuthenticator.Kind
  /// The creation time, in seconds since 1970.
  public let created: Int64

  /// Indicates whether the key was made for this server; with `nil`, whether it was made without a server name.
  func isFor(_ server: String?) -> Bool {
    switch (self.server, server) {
    case (nil, nil): true
    case (let keyServer?, let otherServer?): keyServer.hasSameBytes(as: otherServer)
    default: false
    }
  }

  /// Indicates whether the key belongs to this user; names are compared byte by byte, so look-alike names differ.
  func isOf(_ username: String) -> Bool { self.username.hasSameBytes(as: username) }

  /// Indicates whether its authenticator has the model with an AAID.
  func isOfModel(_ aaid: String) -> Bool { AAID.areSame(self.aaid, aaid) }

  /// Indicates whether the key has this key ID and the model with an AAID.
  func isKey(_ keyID: String, ofModel aaid: String) -> Bool { self.keyID == keyID && isOfModel(aaid) }
}

extension UAFAuthenticator {
  /// The metadata statements of all authenticators of Signet, those of every device included: AAID and JSON.
  ///
  /// A server rejects keys of authenticators without a known statement.
  public static var metadataStatements: [(aaid: String, statement: String)] {
    UAFAuthenticatorModel.statements.map { ($0.aaid.text, $0.json.text) }
  }
}
