/// A format for the exchange of accounts for one-time codes.
public enum InterchangeFormat: String, Sendable, Hashable, CaseIterable {
  /// `otpauth://` URIs, one per line.
  case otpauth
  /// `otpauth-migration://` URIs of Google Authenticator, in batches.
  case google
  /// The vault of Aegis, plain or encrypted.
  case aegis
  /// The backup of 2FAS, plain or encrypted.
  case twoFAS = "2fas"
  /// The backup of andOTP, plain or encrypted.
  case andOTP = "andotp"
  /// The plain JSON of Raivo; import only.
  case raivo
  /// The JSON of FreeOTP+.
  case freeOTP = "freeotp"
  /// Portable Symmetric Key Container (RFC 6030), plain or encrypted.
  case pskc

  /// The name for users.
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

  /// Indicates whether an export can be encrypted with a password.
  public var canBeEncrypted: Bool {
    switch self {
    case .aegis, .twoFAS, .andOTP, .pskc: true
    case .otpauth, .google, .raivo, .freeOTP: false
    }
  }
}
