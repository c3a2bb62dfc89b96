/// What an answer of a user shows about how it was given.
///
/// It is made of what the server has verified and keeps, and never of what was asked for.
package struct AuthenticationEvidence: Hashable, Sendable {
  /// The kind of authenticator that answered.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A container of a device.
    case container
    /// A FIDO UAF authenticator.
    case uaf
    /// An authenticator app that was sent a push message.
    case pushApp = "push-app"
  }

  /// The kind of authenticator.
  package var kind: Kind
  /// The number of distinct factors, at least 1: possession, and what the authenticator verifies of its user.
  package var factors = 1
  /// Whether the authenticator verifies its user: a secret that is known, or a biometric.
  package var isUserVerified = false
  /// Whether the answer is bound to the server's name and to the session that it signs in (NIST SP 800-63B-4 section 3.2.5).
  package var isPhishingResistant = false
  /// Where the key lies that answered.
  package var keyProtection = KeyAssurance.software
  /// Whether that key signed what was shown to the user.
  package var isContentSigned = false
  /// How old the last report of the device was at the answer, in seconds, at least 0; `nil` where there was none, and where nothing asks
  /// for its age.
  package var reportAge: Int64?
  /// The digits of the number that the requester showed, and the user typed; 0 for none.
  package var numberDigits = 0

  /// Describes an answer of one factor that shows nothing more.
  package init(_ kind: Kind) { self.kind = kind }

  /// What `amr` of a token says (RFC 8176 section 2).
  ///
  /// `hwk` asserts a proof by a key in hardware. Where only the device says that, `pop` asserts what was proved: that there is a key.
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

/// Where a key lies, and how well that is known.
package enum KeyAssurance: String, Hashable, Sendable, CaseIterable, Comparable {
  /// In files, or nobody says otherwise.
  case software
  /// In hardware, as the authenticator itself says. Nothing proves it.
  case hardwareClaimed
  /// In hardware, as certificates of the model's vendor prove.
  case hardwareAttested

  /// Whether the first is weaker.
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
