/// A form in which accounts of one-time codes are exchanged.
public enum InterchangeFormat: String, Sendable, Hashable, CaseIterable {
  /// `otpauth://` URIs, one a line.
  case otpauth
  /// `otpauth-migration://` URIs of Google Authenticator, in batches.
  case google
  /// The vault of Aegis, plain or encrypted.
  case aegis
  /// The backup of 2FAS, plain or encrypted.
  case twoFAS = "2fas"
  /// The backup of andOTP, plain or encrypted.
  case andOTP = "andotp"
  /// The plain JSON of Raivo, only read.
  case raivo
  /// The JSON of FreeOTP+.
  case freeOTP = "freeotp"
  /// Portable Symmetric Key Container (RFC 6030), plain or encrypted.
  case pskc

  /// What people call it.
  public var title: String {
    switch self {
    case .otpauth: "otpauth URI"
    case .google: "Google Authenticator"
    case .aegis: "Aegis"
    case .twoFAS: "2FAS"
    case .andOTP: "andOTP"
    case .raivo: "Raivo"
    case .freeOTP: "FreeOTP+"
    case .pskc: "PSKC"
    }
  }

  /// Whether a password can encrypt what is written.
  public var canBeEncrypted: Bool {
    switch self {
    case .aegis, .twoFAS, .andOTP, .pskc: true
    case .otpauth, .google, .raivo, .freeOTP: false
    }
  }
}
