// The characteristics of authenticators (FIDO Registry of Predefined Values section 3). Unnamed bits are kept and compared
// too.

/// The methods of user verification: one bit, or several; with `all`, every one of them is required.
package struct UserVerification: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let presence = UserVerification(rawValue: 0x001)
  package static let fingerprint = UserVerification(rawValue: 0x002)
  package static let passcode = UserVerification(rawValue: 0x004)
  package static let voiceprint = UserVerification(rawValue: 0x008)
  package static let faceprint = UserVerification(rawValue: 0x010)
  package static let location = UserVerification(rawValue: 0x020)
  package static let eyeprint = UserVerification(rawValue: 0x040)
  package static let pattern = UserVerification(rawValue: 0x080)
  package static let handprint = UserVerification(rawValue: 0x100)
  package static let none = UserVerification(rawValue: 0x200)
  package static let all = UserVerification(rawValue: 0x400)

  /// Indicates whether both are equal, or both are sets of alternatives with a common method.
  package func matches(_ other: UserVerification) -> Bool {
    self == other || !contains(.all) && !other.contains(.all) && !isDisjoint(with: other)
  }
}

/// The protection of the keys.
package struct KeyProtection: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let software = KeyProtection(rawValue: 0x01)
  package static let hardware = KeyProtection(rawValue: 0x02)
  package static let trustedEnvironment = KeyProtection(rawValue: 0x04)
  package static let secureElement = KeyProtection(rawValue: 0x08)
  package static let remoteHandle = KeyProtection(rawValue: 0x10)
}

/// The protection of the component that verifies the user.
package struct MatcherProtection: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let software = MatcherProtection(rawValue: 0x01)
  package static let trustedEnvironment = MatcherProtection(rawValue: 0x02)
  package static let onChip = MatcherProtection(rawValue: 0x04)
}

/// The attachment of the authenticator, as far as it is known.
package struct AttachmentHint: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let `internal` = AttachmentHint(rawValue: 0x001)
  package static let external = AttachmentHint(rawValue: 0x002)
  package static let wired = AttachmentHint(rawValue: 0x004)
  package static let wireless = AttachmentHint(rawValue: 0x008)
  package static let nfc = AttachmentHint(rawValue: 0x010)
  package static let bluetooth = AttachmentHint(rawValue: 0x020)
  package static let network = AttachmentHint(rawValue: 0x040)
  package static let ready = AttachmentHint(rawValue: 0x080)
  package static let wifiDirect = AttachmentHint(rawValue: 0x100)
}

/// The component that displays a transaction.
package struct UAFTransactionDisplay: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let any = UAFTransactionDisplay(rawValue: 0x01)
  package static let privilegedSoftware = UAFTransactionDisplay(rawValue: 0x02)
  package static let trustedEnvironment = UAFTransactionDisplay(rawValue: 0x04)
  package static let hardware = UAFTransactionDisplay(rawValue: 0x08)
  package static let remote = UAFTransactionDisplay(rawValue: 0x10)
}

/// The user's action that an assertion claims (`authenticationMode` of TAG_ASSERTION_INFO).
package enum AuthenticationMode: UInt8, Hashable, Sendable {
  /// The user was verified.
  case userVerified = 0x01
  /// The user was verified and confirmed the displayed transaction.
  case transactionConfirmed = 0x02
}
