/// The evidence of how a user's answer was given.
///
/// It contains only properties that the server has verified and stored, never those that were requested.
package struct AuthenticationEvidence: Hashable, Sendable {
  /// The kind of authenticator that answered.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A container of a device.
    case container
    /// A FIDO UAF authenticator.
    case uaf
    /// An authenticator app that received a push message.
    case pushApp = "push-app"
  }

  package var kind: Kind
  /// The number of distinct factors, at least 1: possession, and the factors that the authenticator verifies.
  package var factors = 1
  /// True if the authenticator verifies its user by a known secret or a biometric.
  package var isUserVerified = false
  /// True if the answer is bound to the server's name and to the session that it signs in (NIST SP 800-63B-4 section 3.2.5).
  package var isPhishingResistant = false
  /// The protection of the key that answered.
  package var keyProtection = KeyAssurance.software
  /// True if that key signed the content shown to the user.
  package var isContentSigned = false
  /// The age of the device's last report at the time of the answer, in seconds, at least 0.
  ///
  /// It is `nil` if there was no report, or if no requirement concerns its age.
  package var reportAge: Int64?
  /// The number of digits that the requester showed and the user typed; 0 for none.
  package var numberDigits = 0

  /// Creates the evidence of one factor without further properties.
  package init(_ kind: Kind) { self.kind = kind }

  /// The `amr` value of a token (RFC 8176 section 2).
  ///
  /// `hwk` asserts a proof by a key in hardware. If only the device claims hardware, the value is `pop`, which asserts only
  /// the possession of a key.
  package var method: String {
    switch kind {
    case .container where !isContentSigned: return "otp"
    case .pushApp: return "mca"
    case .container, .uaf: break
    }
    return switch keyProtection {
    case .software: "swk"
    case .hardwareClaimed: "pop"
    case .hardwareAttested: "hwk"
    }
  }
}

/// The protection of a key, and the assurance of that.
package enum KeyAssurance: String, Hashable, Sendable, CaseIterable, Comparable {
  /// In files, or unknown.
  case software
  /// In hardware according to the authenticator itself, without proof.
  case hardwareClaimed
  /// In hardware, proved by certificates of the model's vendor.
  case hardwareAttested

  /// Returns true if the first is weaker.
  package static func < (first: KeyAssurance, second: KeyAssurance) -> Bool {
    first.strength < second.strength
  }

  private var strength: Int {
    switch self {
    case .software: 0
    case .hardwareClaimed: 1
    case .hardwareAttested: 2
    }
  }
}
