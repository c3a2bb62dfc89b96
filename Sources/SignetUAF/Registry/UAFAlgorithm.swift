/// A signature algorithm (FIDO Registry of Predefined Values section 3.6.1).
package struct UAFAlgorithm: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number in the registry.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  package static let p256RAW = UAFAlgorithm(0x0001)
  package static let p256DER = UAFAlgorithm(0x0002)
  package static let rsaPSSRAW = UAFAlgorithm(0x0003)
  package static let rsaPSSDER = UAFAlgorithm(0x0004)
  package static let secp256k1RAW = UAFAlgorithm(0x0005)
  package static let secp256k1DER = UAFAlgorithm(0x0006)
  package static let sm2RAW = UAFAlgorithm(0x0007)
  package static let rsaPKCS1RAW = UAFAlgorithm(0x0008)
  package static let rsaPKCS1DER = UAFAlgorithm(0x0009)

  /// The signature schemes, all with SHA-256.
  package enum Scheme: Hashable, Sendable {
    /// ECDSA on P-256.
    case p256
    /// ECDSA on secp256k1.
    case secp256k1
    /// RSASSA-PSS with 32 bytes of salt.
    case rsaPSS
    /// RSASSA-PKCS1-v1_5.
    case rsaPKCS1

    /// The possible encodings of its public keys.
    package var keyFormats: [UAFKeyFormat] {
      switch self {
      case .p256, .secp256k1: [.x962RAW, .x962DER]
      case .rsaPSS, .rsaPKCS1: [.rsa2048RAW, .rsa2048DER]
      }
    }
  }

  /// The possible encodings of its public keys as text; empty if the algorithm is unsupported.
  var keyFormats: String { scheme?.keyFormats.map(\.rawValue.registryHex).joined(separator: " or ") ?? "" }

  /// The signature scheme; `nil` if it is unsupported.
  package var scheme: Scheme? {
    switch self {
    case .p256RAW, .p256DER: .p256
    case .secp256k1RAW, .secp256k1DER: .secp256k1
    case .rsaPSSRAW, .rsaPSSDER: .rsaPSS
    case .rsaPKCS1RAW, .rsaPKCS1DER: .rsaPKCS1
    default: nil
    }
  }

  /// Indicates whether the signature is wrapped in DER.
  package var isDER: Bool {
    switch self {
    case .p256DER, .secp256k1DER, .rsaPSSDER, .rsaPKCS1DER: true
    default: false
    }
  }

  /// The name in the registry; `nil` for a number that is not in it.
  package var name: String? {
    switch self {
    case .p256RAW: "ALG_SIGN_SECP256R1_ECDSA_SHA256_RAW"
    case .p256DER: "ALG_SIGN_SECP256R1_ECDSA_SHA256_DER"
    case .rsaPSSRAW: "ALG_SIGN_RSASSA_PSS_SHA256_RAW"
    case .rsaPSSDER: "ALG_SIGN_RSASSA_PSS_SHA256_DER"
    case .secp256k1RAW: "ALG_SIGN_SECP256K1_ECDSA_SHA256_RAW"
    case .secp256k1DER: "ALG_SIGN_SECP256K1_ECDSA_SHA256_DER"
    case .sm2RAW: "ALG_SIGN_SM2_SM3_RAW"
    case .rsaPKCS1RAW: "ALG_SIGN_RSA_EMSA_PKCS1_SHA256_RAW"
    case .rsaPKCS1DER: "ALG_SIGN_RSA_EMSA_PKCS1_SHA256_DER"
    default: nil
    }
  }

  package var description: String { name.map { "\($0) (\(rawValue.registryHex))" } ?? rawValue.registryHex }
}
